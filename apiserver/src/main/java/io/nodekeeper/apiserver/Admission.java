package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Lease;
import io.nodekeeper.apiserver.access.Binding;
import io.nodekeeper.apiserver.access.NodeIdentity;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Lets requests in as {@link RequestLimits} decides, has large lists read beside the rest, and answers requests that take
 * too long. Watches and requests that are not about objects (health, discovery, metrics) pass. Thread-safe.
 */
final class Admission {
    /** How exactly deadlines are kept. Chosen: clients name whole seconds. */
    private static final Duration SWEEP = Duration.ofMillis(250);

    private static final Set<String> SIGNS = Set.of("get", "create", "update", "patch");
    private static final Set<String> LEADERS = Set.of("system:kube-controller-manager", "system:kube-scheduler");
    private static final String SYSTEM_ACCOUNTS = Binding.ACCOUNT_PREFIX + "kube-system:";

    private final RequestLimits limits;
    private final Turns lists;
    /** What had to wait and is not a list: it shall not wait for lists as well. */
    private final Turns others;

    private final Loop loop;
    private final ServerMetrics metrics;
    private final Duration longest;
    private final AtomicBoolean sweeping = new AtomicBoolean();

    Admission(RequestOptions options, Executor workers, Loop loop, ServerMetrics metrics) {
        limits = new RequestLimits(options);
        lists = new Turns(workers, options.listsAtOnce());
        others = new Turns(workers, 2);
        longest = options.timeout();
        this.loop = loop;
        this.metrics = metrics;
    }

    private static final class Call extends RequestLimits.Seat {
        private final Supplier<CompletableFuture<ApiResponse>> work;
        private final boolean heavy;
        private final CompletableFuture<ApiResponse> answer = new CompletableFuture<>();

        private Call(
                RequestLimits.Kind kind,
                User user,
                long deadline,
                boolean heavy,
                Supplier<CompletableFuture<ApiResponse>> work) {
            super(kind, user.name(), user.in(User.MASTERS), deadline);
            this.heavy = heavy;
            this.work = work;
        }
    }

    /** Has {@code work} done when it is the request's turn; fails as the work does, or with the refusal. */
    CompletableFuture<ApiResponse> admit(
            User user, RequestInfo info, ApiRequest request, Supplier<CompletableFuture<ApiResponse>> work) {
        if (info.resource().isEmpty() || info.verb().equals("watch")) {
            return work.get();
        }
        Call call = new Call(
                kind(user, info),
                user,
                loop.clock().nanoTime() + allowed(request.parameter("timeout")),
                heavy(info, request),
                work);
        switch (limits.enter(call)) {
            case SEATED -> serve(call);
            case WAITING -> {
                // Whoever leaves calls it.
            }
            case GONE -> {
                metrics.dropped(info);
                return CompletableFuture.completedFuture(ApiResponse.tooMany());
            }
        }
        if (!call.answer.isDone()) {
            sweepLater();
        }
        return call.answer;
    }

    private void serve(Call call) {
        if (call.heavy) {
            lists.run(call.user(), () -> begin(call));
        } else {
            begin(call);
        }
    }

    private void begin(Call call) {
        if (call.answer.isDone()) {
            // Given up while it waited.
            return;
        }
        CompletableFuture<ApiResponse> done;
        try {
            done = call.work.get();
        } catch (RuntimeException e) {
            done = CompletableFuture.failedFuture(e);
        }
        done.whenComplete((response, error) -> {
            leave(call);
            if (error == null) {
                call.answer.complete(response);
            } else {
                call.answer.completeExceptionally(error);
            }
        });
    }

    private void leave(Call call) {
        // Not here and now: this may be the thread of a store that others wait for.
        limits.leave(call).ifPresent(seat -> {
            Call next = (Call) seat;
            (next.heavy ? lists : others).run(next.user(), () -> begin(next));
        });
    }

    private void sweepLater() {
        if (!sweeping.get() && sweeping.compareAndSet(false, true)) {
            loop.schedule(SWEEP, this::sweep);
        }
    }

    private void sweep() {
        for (RequestLimits.Seat seat : limits.overdue(loop.clock().nanoTime())) {
            Call call = (Call) seat;
            leave(call);
            call.answer.completeExceptionally(
                    new ApiException(504, "Timeout", "Timeout: request did not complete within the allotted timeout"));
        }
        sweeping.set(false);
        if (!limits.idle()) {
            sweepLater();
        }
    }

    /** Nanoseconds that a request may take: what the client says it waits, up to the server's own limit. */
    private long allowed(String timeout) {
        if (timeout.isEmpty()) {
            return longest.toNanos();
        }
        long asked;
        int digits = timeout.length() - 1;
        if (digits == 1 || digits == 2) {
            // The common form, as 10s, without the cost of the general one.
            char tens = digits == 2 ? timeout.charAt(0) : '0';
            char ones = timeout.charAt(digits - 1);
            if (timeout.charAt(digits) == 's' && isDigit(tens) && isDigit(ones)) {
                asked = Duration.ofSeconds((tens - '0') * 10L + ones - '0').toNanos();
                return asked == 0 ? longest.toNanos() : Math.min(asked, longest.toNanos());
            }
        }
        try {
            asked = GoDuration.parse(timeout).toNanos();
        } catch (IllegalArgumentException e) {
            throw ApiException.badRequest("invalid timeout specified in the request URL - " + e.getMessage());
        }
        return asked <= 0 ? longest.toNanos() : Math.min(asked, longest.toNanos());
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** Whether many objects may have to be looked at. */
    private static boolean heavy(RequestInfo info, ApiRequest request) {
        return (info.verb().equals("list") || info.verb().equals("deletecollection"))
                && !request.parameter("fieldSelector").contains("metadata.name=");
    }

    /** Nodes' own leases and nodes, and the leases of those who lead: what Kubernetes ranks highest, too. */
    static RequestLimits.Kind kind(User user, RequestInfo info) {
        Optional<RequestInfo.Target> target = info.resource();
        if (target.isPresent() && SIGNS.contains(info.verb()) && isSign(user, target.get())) {
            return RequestLimits.Kind.HEARTBEAT;
        }
        return ServerMetrics.isRead(info) ? RequestLimits.Kind.READ : RequestLimits.Kind.WRITE;
    }

    private static boolean isSign(User user, RequestInfo.Target target) {
        if (target.plural().equals("leases") && target.group().equals("coordination.k8s.io")) {
            return user.in(NodeIdentity.GROUP)
                    ? target.namespace().equals(Lease.NODE_NAMESPACE)
                    : LEADERS.contains(user.name()) || user.name().startsWith(SYSTEM_ACCOUNTS);
        }
        return target.plural().equals("nodes") && target.group().isEmpty() && user.in(NodeIdentity.GROUP);
    }
}
