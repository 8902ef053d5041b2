package io.nodekeeper.cri.plugin;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Status;
import io.nodekeeper.cri.grpc.GoStatus;
import io.nodekeeper.cri.grpc.UnaryCall;
import io.nodekeeper.cri.socket.UnixChannel;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.ThreadPool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** One call over a connection of its own, which ends with it. */
final class OneCall {
    /** The largest message: the default of clients in Go. */
    private static final int MAX_MESSAGE = 4 << 20;

    private OneCall() {}

    /** Sends the request; completes {@code answer} on {@code loop}. The connection ends when {@code answer} is done. */
    static <Q, A, T> void send(
            Path path,
            PluginExchange<Q, A, T> exchange,
            Duration deadline,
            ThreadPool pool,
            ScheduledExecutorService timer,
            Loop loop,
            CompletableFuture<T> answer) {
        UnixChannel channel = new UnixChannel(path, MAX_MESSAGE, pool, timer);
        ClientCall<Q, A> call = UnaryCall.send(
                channel.grpc(),
                exchange.method(),
                CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS),
                exchange.request(),
                (status, message) -> {
                    if (!status.isOk() || message.isEmpty()) {
                        PluginCallException error = failure(path, status);
                        loop.execute(() -> answer.completeExceptionally(error));
                        return;
                    }
                    T value = exchange.read().apply(message.get());
                    loop.execute(() -> answer.complete(value));
                });
        answer.whenComplete((value, error) -> {
            if (error != null) {
                call.cancel("the call was given up", null);
            }
            channel.close("the call to " + path + " has ended");
        });
    }

    private static PluginCallException failure(Path path, Status status) {
        if (status.getCode() == Status.Code.DEADLINE_EXCEEDED) {
            return PluginCallException.late();
        }
        if (status.isOk()) {
            return new PluginCallException("Internal", "the plugin at " + path + " sent no answer");
        }
        String why = GoStatus.description(status);
        boolean unreachable = status.getCode() == Status.Code.UNAVAILABLE;
        return new PluginCallException(GoStatus.code(status), unreachable ? path + ": " + why : why);
    }
}
