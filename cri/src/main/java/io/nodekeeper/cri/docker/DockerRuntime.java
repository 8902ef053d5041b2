package io.nodekeeper.cri.docker;

import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeCallException.Code;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.VirtualThreads;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Docker Engine behind its unix socket, as far as the agent watches pods: version, status, lists, inspections, statistics,
 * images and events. Each call has its own connection and its own virtual thread, so that one that hangs holds nothing that
 * others need; its deadline closes the connection. Sandboxes and containers that are listed in the same moment are one
 * request. Thread-safe.
 */
public final class DockerRuntime implements ContainerRuntime, AutoCloseable {
    /**
     * The most calls in progress; further ones are refused. A node with 110 pods (Kubernetes' default limit) of a few
     * containers each needs some hundreds of calls at a time; more than this means that the agent is stuck.
     */
    static final int MAX_CALLS = 1_024;

    private final Path socket;
    private final Loop loop;
    private final VirtualThreads threads = new VirtualThreads("docker");
    private final ApiVersion version = new ApiVersion();
    private final AtomicInteger underWay = new AtomicInteger();
    /** Calls and streams in progress; at most {@link #MAX_CALLS} and one or two streams. */
    private final Set<Exchange> exchanges = ConcurrentHashMap.newKeySet();
    /** Lists that were asked for and not sent yet, by pod; each is sent in the loop's next turn. */
    private final Map<Optional<String>, SharedList> lists = new HashMap<>();

    private volatile boolean closed;

    /** A client for the daemon at {@code socket}, where no process needs to listen yet; results arrive on {@code loop}. */
    public DockerRuntime(Path socket, Loop loop) {
        this.socket = socket;
        this.loop = loop;
    }

    @Override
    @SuppressWarnings("unchecked") // Requests answers each call with the type that it asks for.
    public <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline) {
        return switch (call) {
            case RuntimeCall.ListSandboxes(Optional<String> uid) ->
                list(call, uid, deadline, listing -> (T) listing.sandboxes());
            case RuntimeCall.ListContainers(Optional<String> uid) ->
                list(call, uid, deadline, listing -> (T) listing.containers());
            default -> {
                Exchange exchange = new Exchange(socket);
                CompletableFuture<T> answer = new CompletableFuture<>();
                CompletableFuture<T> result = Deadlines.within(loop, deadline, call.method(), answer);
                result.whenComplete((value, error) -> exchange.end());
                send(call.method(), exchange, answer, () -> {
                    T value = (T) new Requests(call.method(), exchange, version).answer(call);
                    loop.execute(() -> answer.complete(value));
                });
                yield result;
            }
        };
    }

    /** How many calls have not ended. */
    int underWay() {
        return underWay.get();
    }

    private interface Work {
        void run() throws IOException;
    }

    /** Runs {@code work}, which completes {@code answer} on the loop, on a thread of its own. */
    private void send(String method, Exchange exchange, CompletableFuture<?> answer, Work work) {
        if (underWay.incrementAndGet() > MAX_CALLS) {
            underWay.decrementAndGet();
            refuse(
                    method,
                    Code.NOT_SENT,
                    MAX_CALLS + " calls to the runtime at " + socket + " are in progress already",
                    answer);
            return;
        }
        exchanges.add(exchange);
        try {
            threads.execute(() -> {
                try {
                    work.run();
                } catch (IOException | RuntimeException e) {
                    RuntimeCallException error = failure(method, e);
                    loop.execute(() -> answer.completeExceptionally(error));
                } finally {
                    exchanges.remove(exchange);
                    underWay.decrementAndGet();
                }
            });
        } catch (RejectedExecutionException e) {
            exchanges.remove(exchange);
            underWay.decrementAndGet();
            refuse(method, Code.UNAVAILABLE, "runtime at " + socket + ": the client is closed", answer);
        }
    }

    private void refuse(String method, Code code, String message, CompletableFuture<?> answer) {
        RuntimeCallException refused = new RuntimeCallException(method, code, message);
        loop.execute(() -> answer.completeExceptionally(refused));
    }

    private RuntimeCallException failure(String method, Exception cause) {
        RuntimeCallException error = closed && cause instanceof IOException
                ? new RuntimeCallException(method, Code.UNAVAILABLE, "runtime at " + socket + ": the client is closed")
                : DockerError.of(method, socket, cause);
        if (error.code() != Code.NOT_FOUND && error.code() != Code.UNIMPLEMENTED) {
            // Another daemon may have been started there, or this one refuses the version.
            version.forget();
        }
        return error;
    }

    /** One request for all lists of the same pods that are asked for before it is sent. */
    private final class SharedList {
        private final Exchange exchange = new Exchange(socket);
        private final CompletableFuture<DockerAnswers.Listing> answer = new CompletableFuture<>();
        /** The calls that still wait. */
        private int waiting;

        /** One of the calls has ended; the last one ends the request. */
        private void left(Optional<String> uid) {
            boolean last;
            synchronized (lists) {
                waiting--;
                last = waiting == 0;
                if (last) {
                    lists.remove(uid, this);
                }
            }
            if (last) {
                exchange.end();
            }
        }
    }

    private <T> CompletableFuture<T> list(
            RuntimeCall<T> call, Optional<String> uid, Duration deadline, Function<DockerAnswers.Listing, T> part) {
        SharedList shared;
        synchronized (lists) {
            SharedList open = lists.get(uid);
            shared = open == null ? new SharedList() : open;
            shared.waiting++;
            if (open == null) {
                lists.put(uid, shared);
                loop.execute(() -> begin(call.method(), uid, shared));
            }
        }
        // The deadline of one call ends only its own copy of the answer.
        CompletableFuture<T> result = Deadlines.within(loop, deadline, call.method(), shared.answer.thenApply(part));
        result.whenComplete((value, error) -> shared.left(uid));
        return result;
    }

    private void begin(String method, Optional<String> uid, SharedList shared) {
        synchronized (lists) {
            lists.remove(uid, shared);
        }
        send(method, shared.exchange, shared.answer, () -> {
            DockerAnswers.Listing listing = new Requests(method, shared.exchange, version).list(uid);
            loop.execute(() -> shared.answer.complete(listing));
        });
    }

    @Override
    public CompletableFuture<Void> events(Consumer<ContainerEvent> listener) {
        Exchange exchange = new Exchange(socket);
        CompletableFuture<Void> ended = new CompletableFuture<>();
        ended.whenComplete((end, error) -> exchange.end());
        send("GetContainerEvents", exchange, ended, () -> {
            new DockerEvents(loop, event -> {
                        if (!ended.isDone()) {
                            listener.accept(event);
                        }
                    })
                    .read(exchange, version);
            loop.execute(() -> ended.complete(null));
        });
        return ended;
    }

    /** Fails all calls and closes their connections. Idempotent. */
    @Override
    public void close() {
        closed = true;
        exchanges.forEach(Exchange::end);
        threads.close();
    }
}
