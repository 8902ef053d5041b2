package io.nodekeeper.apiserver.flowcontrol;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.authorization.node.NodeIdentity;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.catalogue.CertificateResources;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.metrics.ServerMetrics;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.reads.ListOptions;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestOrigin;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Limits concurrent requests with {@link ConcurrencyLimits}, runs lists and large bodies outside the event loops,
 * fairly among users with {@link FairWorkQueue}, and answers requests that exceed their deadline. Open watches
 * have {@link WatchLimits} instead. Requests for other things than objects (health, discovery, metrics) are not limited. Thread-safe.
 */
public final class FlowController {
    /** How often deadlines are checked: clients give whole seconds, so a quarter of a second is exact enough. */
    private static final Duration SWEEP = Duration.ofMillis(250);

    private static final Set<String> SIGNS = Set.of("get", "create", "update", "patch");
    private static final Set<String> LEADERS = Set.of("system:kube-controller-manager", "system:kube-scheduler");
    private static final String SYSTEM_ACCOUNTS = Binding.ACCOUNT_PREFIX + "kube-system:";

    /** As {@link Codec#LARGE}, for a body in YAML, which takes several times as long to parse as JSON. */
    private static final int HEAVY_YAML = 4 << 10;

    /**
     * The bytes of memory that a request needs for each byte of its body and object: measured, at most 15, for lists of
     * numbers.
     */
    private static final int EXPANSION = 16;

    /** How many threads read large bodies at the same time; on a small machine more would only compete. */
    private static final int BODIES_AT_ONCE = 2;

    /** API groups of which a short write may take long: it is compared with all rights of its writer, or its signature is checked. */
    private static final Set<String> LONG = Set.of(AccessResources.RBAC, CertificateResources.GROUP);

    private static final Set<String> YAML_TYPES = Set.of(Yaml.MEDIA_TYPE, Yaml.APPLY_MEDIA_TYPE);

    private final ConcurrencyLimits limits;
    private final FairWorkQueue lists;
    /** Requests with large bodies or about large objects. */
    private final FairWorkQueue bodies;
    /** Lists of one object and delayed requests, so that they do not wait for lists of many. */
    private final FairWorkQueue others;

    private final WatchLimits watches;
    private final ToLongFunction<RequestInfo> storedBytes;
    private final boolean alone;
    private final Loop loop;
    private final ServerMetrics metrics;
    private final Duration longest;
    private final AtomicBoolean sweeping = new AtomicBoolean();

    /**
     * {@code storedBytes} is the size of the object that a request names, 0 if there is none; {@code alone} is whether the store tells its
     * revision at once, because no other process writes to it.
     */
    public FlowController(
            FlowControlOptions options,
            Executor workers,
            Loop loop,
            ServerMetrics metrics,
            ToLongFunction<RequestInfo> storedBytes,
            boolean alone) {
        limits = new ConcurrencyLimits(options);
        // An eighth of the heap for the parsed trees of large bodies: as much as for the bytes of incoming bodies.
        bodies = new FairWorkQueue(
                workers, BODIES_AT_ONCE, loop.clock(), Runtime.getRuntime().maxMemory() / 8);
        lists = new FairWorkQueue(workers, options.listsAtOnce(), loop.clock());
        others = new FairWorkQueue(workers, 2, loop.clock());
        watches = new WatchLimits(Runtime.getRuntime().maxMemory() / 4);
        this.storedBytes = storedBytes;
        this.alone = alone;
        longest = options.timeout();
        this.loop = loop;
        this.metrics = metrics;
    }

    /** How much a request uses threads outside the event loops. */
    private enum Effort {
        /** Not at all: it runs on its event loop. */
        LIGHT,
        /** It reads one object, perhaps from disk. */
        ONE,
        /** It may read many objects. */
        LIST,
        /** It reads or writes a large object, or takes as long. */
        LARGE
    }

    private static final class Call extends ConcurrencyLimits.Seat {
        private final RequestInfo info;
        private final RequestOrigin origin;
        private final Supplier<CompletableFuture<ApiResponse>> work;
        private final Effort effort;
        private final long weight;
        /** The bytes of the object that a get answers with, if it is a large one. */
        private final long shown;

        /** When others get its seat even if its work goes on, by the monotonic clock. */
        private final long end;

        private final CompletableFuture<ApiResponse> answer = new CompletableFuture<>();
        /** Whether its work has begun, or never will. */
        private final AtomicBoolean taken = new AtomicBoolean();

        private Call(
                RequestInfo info,
                User user,
                RequestOrigin origin,
                long deadline,
                long end,
                Effort effort,
                long weight,
                long shown,
                Supplier<CompletableFuture<ApiResponse>> work) {
            super(kind(user, info), user.flow(), user.in(NodeIdentity.GROUP), user.in(User.MASTERS), deadline);
            this.info = info;
            this.origin = origin;
            this.end = end;
            this.effort = effort;
            this.weight = weight;
            this.shown = shown;
            this.work = work;
        }
    }

    /** Runs {@code work} when it is the request's turn; fails as the work does, or with the refusal. */
    public CompletableFuture<ApiResponse> dispatch(
            User user,
            RequestInfo info,
            ApiRequest request,
            RequestOrigin origin,
            Supplier<CompletableFuture<ApiResponse>> work) {
        if (info.resource().isEmpty()) {
            return work.get();
        }
        if (info.verb().equals("watch")) {
            return watch(user, info, request, origin, work);
        }
        long now = loop.clock().nanoTime();
        long deadline = now + allowed(request.parameter("timeout"));
        Effort effort = Effort.LIST;
        long weight = 0;
        long shown = 0;
        if (info.verb().equals("list")) {
            effort = namesOne(info, request) ? Effort.ONE : Effort.LIST;
        } else if (!info.verb().equals("deletecollection")) {
            long stored = storedBytes.applyAsLong(info);
            boolean get = info.verb().equals("get");
            // A plain get only copies the stored object, which counts as a part of parsing it.
            long bytes = request.body().length + stored / (get && Media.isPlain(request) ? EXPANSION : 1);
            boolean large = bytes >= Codec.LARGE
                    || (LONG.contains(info.resource().get().group()) && !ServerMetrics.isRead(info))
                    || (request.body().length >= HEAVY_YAML && YAML_TYPES.contains(request.contentType()));
            effort = large ? Effort.LARGE : Effort.LIGHT;
            weight = large ? bytes * EXPANSION : 0;
            shown = get && stored >= Codec.LARGE && showsWhole(info, request) ? stored : 0;
        }
        return enter(new Call(info, user, origin, deadline, now + longest.toNanos(), effort, weight, shown, work));
    }

    private CompletableFuture<ApiResponse> enter(Call call) {
        switch (limits.enter(call)) {
            case SEATED -> serve(call);
            case WAITING -> {
                // The request that passes its seat to this one calls this.
            }
            case GONE -> turnAway(call);
        }
        if (!call.answer.isDone()) {
            sweepLater();
        }
        return call.answer;
    }

    /**
     * An open watch holds no seat, only one that waits for the revision at which it begins: it must have the seat before it waits, so that
     * nothing is left of a refused one. {@link WatchLimits} says how many there may be.
     */
    private CompletableFuture<ApiResponse> watch(
            User user,
            RequestInfo info,
            ApiRequest request,
            RequestOrigin origin,
            Supplier<CompletableFuture<ApiResponse>> work) {
        boolean waits = request.parameter("resourceVersion").isEmpty() ? !alone : request.flag("sendInitialEvents");
        CompletableFuture<ApiResponse> begun = waits ? seated(user, info, origin, work) : work.get();
        if (user.in(User.MASTERS)) {
            return begun;
        }
        WatchLimits.Cost cost = WatchLimits.Cost.of(user.flow(), info, request);
        return begun.thenApply(response -> {
            if (!(response instanceof ApiResponse.Streamed streamed)) {
                return response;
            }
            if (!watches.hasRoom(cost)) {
                metrics.dropped(info);
                return ApiResponse.tooMany();
            }
            return new ApiResponse.Streamed(streamed.status(), streamed.headers(), sink -> {
                watches.opened(cost);
                sink.onClose(() -> watches.closed(cost));
                streamed.start().accept(sink);
            });
        });
    }

    private CompletableFuture<ApiResponse> seated(
            User user, RequestInfo info, RequestOrigin origin, Supplier<CompletableFuture<ApiResponse>> work) {
        long end = loop.clock().nanoTime() + longest.toNanos();
        return enter(new Call(info, user, origin, end, end, Effort.LIGHT, 0, 0, work));
    }

    /**
     * Runs what requests of {@code user} have left after they had to wait, in the user's turn among lists: a get or list that
     * waited for a revision, the rest of the deletion of a collection, a write after a conflict, the conversion of a large answer.
     */
    public Executor turnOf(User user) {
        return task -> lists.resume(user.flow(), task);
    }

    /** Whether a get answers with the whole object. */
    private static boolean showsWhole(RequestInfo info, ApiRequest request) {
        return info.resource().orElseThrow().subresource().isEmpty()
                && Media.of(request, info.verb()).whole();
    }

    private void turnAway(Call call) {
        metrics.dropped(call.info);
        call.answer.complete(ApiResponse.tooMany());
    }

    private void serve(Call call) {
        if (call.effort == Effort.LIGHT) {
            begin(call);
        } else if (!queue(call)) {
            leave(call);
            turnAway(call);
        }
    }

    /** Has the request run outside the event loops. Returns whether it will: not if too much of its user waits already. */
    private boolean queue(Call call) {
        FairWorkQueue queue = switch (call.effort) {
            case LIGHT, ONE -> others;
            case LIST -> lists;
            case LARGE -> bodies;
        };
        return queue.run(call.user(), call.weight, () -> begin(call));
    }

    private void begin(Call call) {
        if (!call.taken.compareAndSet(false, true) || call.answer.isDone()) {
            // Its time ended while it waited, or it was cancelled.
            release(call);
            return;
        }
        if (call.shown > 0 && !call.origin.hasRoom(call.shown)) {
            // Here, because reading, copying and converting the object would be for nothing.
            leave(call);
            turnAway(call);
            release(call);
            return;
        }
        CompletableFuture<ApiResponse> done;
        try {
            done = call.work.get();
        } catch (RuntimeException | StackOverflowError e) {
            done = CompletableFuture.failedFuture(e);
        }
        done.whenComplete((response, error) -> {
            leave(call);
            Futures.complete(call.answer, response, error);
            release(call);
        });
    }

    private void release(Call call) {
        if (call.weight > 0) {
            bodies.release(call.weight);
        }
    }

    /** The request has ended, and its seat passes to the next one that can be queued. */
    private void leave(Call call) {
        Optional<ConcurrencyLimits.Seat> seat = limits.leave(call);
        while (seat.isPresent()) {
            Call next = (Call) seat.get();
            // Not on this thread, which may be the store's and must not be blocked.
            if (queue(next)) {
                return;
            }
            turnAway(next);
            seat = limits.leave(next);
        }
    }

    private void sweepLater() {
        if (!sweeping.get() && sweeping.compareAndSet(false, true)) {
            loop.schedule(SWEEP, this::sweep);
        }
    }

    private void sweep() {
        // First, so that the next request starts sweeps again if this one fails.
        sweeping.set(false);
        long now = loop.clock().nanoTime();
        for (ConcurrencyLimits.Seat seat : limits.overdue(now)) {
            Call call = (Call) seat;
            boolean goesOn = !call.taken.compareAndSet(false, true);
            // Otherwise clients with short timeouts could have much more under way than there are seats.
            if (!goesOn || call.end - now <= 0) {
                leave(call);
            }
            call.answer.completeExceptionally(
                    new ApiException(504, "Timeout", "Timeout: request did not complete within the allotted timeout"));
        }
        if (!limits.idle()) {
            sweepLater();
        }
    }

    /** The time limit of a request in nanoseconds: the client's timeout, up to the server's limit. */
    private long allowed(String timeout) {
        if (timeout.isEmpty()) {
            return longest.toNanos();
        }
        long asked;
        int digits = timeout.length() - 1;
        if (digits == 1 || digits == 2) {
            // The common form, such as 10s, without the cost of the general parser.
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

    /** Whether a list finds the only object that it can select by its key. */
    private static boolean namesOne(RequestInfo info, ApiRequest request) {
        try {
            String namespace = info.resource().orElseThrow().namespace();
            return info.known()
                    .flatMap(resource -> ListOptions.of(resource, request).key(resource, namespace))
                    .isPresent();
        } catch (ApiException e) {
            // The list itself reports it.
            return false;
        }
    }

    /**
     * The kind of a request. Nodes' writes of their leases and Nodes, and leaders' renewals have the highest priority,
     * as in Kubernetes.
     */
    static ConcurrencyLimits.Kind kind(User user, RequestInfo info) {
        Optional<RequestTarget> target = info.resource();
        if (target.isPresent() && SIGNS.contains(info.verb()) && isSign(user, target.get())) {
            return ConcurrencyLimits.Kind.HEARTBEAT;
        }
        return ServerMetrics.isRead(info) ? ConcurrencyLimits.Kind.READ : ConcurrencyLimits.Kind.WRITE;
    }

    private static boolean isSign(User user, RequestTarget target) {
        if (target.plural().equals("leases") && target.group().equals("coordination.k8s.io")) {
            return user.in(NodeIdentity.GROUP)
                    ? target.namespace().equals(Lease.NODE_NAMESPACE)
                    : LEADERS.contains(user.name()) || user.name().startsWith(SYSTEM_ACCOUNTS);
        }
        return target.plural().equals("nodes") && target.group().isEmpty() && user.in(NodeIdentity.GROUP);
    }
}
