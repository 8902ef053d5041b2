package io.nodekeeper.client;

import io.nodekeeper.time.Loop;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Passes the events of a stream to a loop, in order. */
record HandlerOnLoop(Loop loop, Transport.StreamHandler handler) implements Transport.StreamHandler {
    @Override
    public void onOpen() {
        loop.execute(handler::onOpen);
    }

    @Override
    public void onLine(byte[] line) {
        loop.execute(() -> handler.onLine(line));
    }

    /** One task for all lines: at thousands of lines per second, tasks would cost more than the lines. */
    @Override
    public void onLines(Lines lines) {
        loop.execute(() -> handler.onLines(lines));
    }

    @Override
    public CompletableFuture<Void> drained() {
        CompletableFuture<Void> reached = new CompletableFuture<>();
        loop.execute(() -> reached.complete(null));
        return reached;
    }

    @Override
    public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
        loop.execute(() -> handler.onEnd(refusal, why));
    }
}
