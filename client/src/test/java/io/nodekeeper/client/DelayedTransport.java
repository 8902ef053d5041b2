package io.nodekeeper.client;

import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A network that delays answers: the server answers when it gets the call, and its answer arrives later. */
public final class DelayedTransport implements Transport {
    private final Transport server;
    private final Loop network;
    private final Function<Call, Duration> latency;

    /** {@code latency} is how long the answer to a call is on its way. */
    public DelayedTransport(Transport server, Loop network, Function<Call, Duration> latency) {
        this.server = server;
        this.network = network;
        this.latency = latency;
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        CompletableFuture<Reply> reply = server.send(call);
        Duration delay = latency.apply(call);
        if (delay.isZero()) {
            return reply;
        }
        CompletableFuture<Reply> late = new CompletableFuture<>();
        network.schedule(
                delay,
                () -> reply.whenComplete((answer, error) -> {
                    if (error != null) {
                        late.completeExceptionally(error);
                    } else {
                        late.complete(answer);
                    }
                }));
        return late;
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        return server.open(call, handler);
    }

    @Override
    public void close() {
        server.close();
    }
}
