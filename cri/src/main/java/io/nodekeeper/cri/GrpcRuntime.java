package io.nodekeeper.cri;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Status;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.grpc.GoStatus;
import io.nodekeeper.cri.grpc.UnaryCall;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A container runtime behind a unix socket, over gRPC and one connection ({@link Connections}). A call's deadline is
 * enforced twice: by gRPC, which also sends it to the runtime, and by the loop, in case gRPC is stuck. Uses at most
 * four threads of its own. Thread-safe.
 */
public final class GrpcRuntime implements ContainerRuntime, AutoCloseable {
    /**
     * The most calls in progress; further ones are refused. A node with 110 pods (Kubernetes' default limit) of a few
     * containers each needs some hundreds of calls at a time, and more if all end at once; more than this means that the agent is stuck.
     */
    static final int MAX_CALLS = 2_304;
    /** So many of them are left for calls about the node, without which it is not ready: its status, version and lists. */
    private static final int OF_NODE = 64;
    /**
     * So many more are left by calls that take as long as a pod wants, such as a stop with its grace period: others end soon, if the runtime
     * is healthy.
     */
    private static final int SHORT = 192;
    /** The longest deadline: 68 years. Timers count nanoseconds, which end after 292 years. */
    static final Duration LONGEST = Duration.ofSeconds(Integer.MAX_VALUE).plusDays(1);

    private final Path socket;
    private final Loop loop;
    private final Connections connections;
    private final AtomicInteger underWay = new AtomicInteger();

    /** A client for the runtime at {@code socket}, where no process needs to listen yet; results arrive on {@code loop}. */
    public GrpcRuntime(Path socket, Loop loop) {
        this.socket = socket;
        this.loop = loop;
        connections = new Connections(socket, loop.clock());
    }

    @Override
    public <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline) {
        if (deadline.compareTo(LONGEST) > 0) {
            return refuse(call.method(), "its deadline is " + deadline + "; expected " + LONGEST + " at most");
        }
        GrpcCall<?, ?, T> exchange;
        try {
            exchange = GrpcCall.of(call);
        } catch (RuntimeException e) {
            return refuse(call.method(), "the request cannot be made: " + Failures.text(e));
        }
        int most = most(call);
        if (underWay.incrementAndGet() > most) {
            underWay.decrementAndGet();
            return refuse(call.method(), most + " calls to the runtime at " + socket + " are in progress already");
        }
        return send(call.method(), exchange, deadline);
    }

    private static int most(RuntimeCall<?> call) {
        if (!call.isOfPod()) {
            return MAX_CALLS;
        }
        return MAX_CALLS - OF_NODE - (call.expected().isZero() ? 0 : SHORT);
    }

    private <T> CompletableFuture<T> refuse(String method, String why) {
        CompletableFuture<T> refused = new CompletableFuture<>();
        RuntimeCallException error = new RuntimeCallException(method, RuntimeCallException.Code.NOT_SENT, why);
        loop.execute(() -> refused.completeExceptionally(error));
        return refused;
    }

    /** How many calls gRPC has not finished. */
    int underWay() {
        return underWay.get();
    }

    private <Q, A, T> CompletableFuture<T> send(String method, GrpcCall<Q, A, T> exchange, Duration deadline) {
        long start = loop.clock().nanoTime();
        Connection connection = connections.current();
        long received = connection.received();
        CompletableFuture<T> answer = new CompletableFuture<>();
        CompletableFuture<T> result = Deadlines.within(loop, deadline, method, answer);
        ClientCall<Q, A> call = UnaryCall.send(
                connection.channel(),
                exchange.method(),
                CallOptions.DEFAULT
                        .withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)
                        .withMaxInboundMessageSize(exchange.most()),
                exchange.request(),
                (status, message) -> {
                    underWay.decrementAndGet();
                    if (!status.isOk()) {
                        boolean late = loop.clock().nanoTime() - start >= deadline.toNanos();
                        RuntimeException error = status.getCode() == Status.Code.DEADLINE_EXCEEDED && late
                                ? new DeadlineExceededException(method, deadline)
                                : failure(method, connection, status);
                        loop.execute(() -> answer.completeExceptionally(error));
                    } else if (message.isEmpty()) {
                        loop.execute(() -> answer.completeExceptionally(refused(method, "the answer was empty")));
                    } else {
                        settle(method, exchange, message.get(), answer);
                    }
                });
        // Only now, because a cancelled call must not be used further.
        result.whenComplete((value, error) -> {
            if (error instanceof DeadlineExceededException) {
                connection.missed(received);
            }
            if (error != null) {
                call.cancel("the caller cancelled the call", null);
            }
        });
        return result;
    }

    /** Parses on gRPC's thread, so that a long list does not block the loop. */
    private <A, T> void settle(String method, GrpcCall<?, A, T> exchange, A message, CompletableFuture<T> answer) {
        try {
            T value = exchange.read().apply(message);
            loop.execute(() -> answer.complete(value));
        } catch (IllegalArgumentException e) {
            RuntimeCallException unreadable = new RuntimeCallException(
                    method, RuntimeCallException.Code.UNREADABLE, String.valueOf(e.getMessage()));
            loop.execute(() -> answer.completeExceptionally(unreadable));
        }
    }

    @Override
    public CompletableFuture<Void> events(Consumer<ContainerEvent> listener) {
        return new EventStream(connections.current(), loop, this::failure, listener).start();
    }

    private RuntimeCallException failure(String method, Connection connection, Status status) {
        RuntimeCallException.Code code = FailureCodes.of(status);
        String described = GoStatus.description(status);
        String words = described.isEmpty() ? status.getCode().name() : described;
        return new RuntimeCallException(
                method,
                code,
                code == RuntimeCallException.Code.UNAVAILABLE
                        ? "runtime at " + socket + ": " + connection.why(words)
                        : words);
    }

    private static RuntimeCallException refused(String method, String message) {
        return new RuntimeCallException(method, RuntimeCallException.Code.OTHER, message);
    }

    /** Fails all calls and closes the connection. Takes up to a second. Idempotent. */
    @Override
    public void close() {
        connections.close();
    }
}
