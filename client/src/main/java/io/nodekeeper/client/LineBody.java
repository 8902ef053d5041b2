package io.nodekeeper.client;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A stream of lines for a handler; or, if the server refuses it, its answer. */
final class LineBody implements Body<Optional<Reply>> {
    /** The most bytes of a response that refuses a stream: a Status has some hundred bytes. */
    private static final int REFUSAL = 1 << 20;

    private final Transport.StreamHandler handler;
    private final LineCutter cutter;
    private final WholeBody refusal = new WholeBody(REFUSAL);
    private boolean isRefused;

    LineBody(Transport.StreamHandler handler) {
        this.handler = handler;
        this.cutter = new LineCutter(handler);
    }

    @Override
    public void begin(int status) {
        isRefused = status != 200;
        if (isRefused) {
            refusal.begin(status);
        } else {
            handler.onOpen();
        }
    }

    @Override
    public void take(ByteBuf bytes) throws IOException {
        if (isRefused) {
            refusal.take(bytes);
        } else {
            cutter.take(bytes);
        }
    }

    @Override
    public CompletableFuture<Void> arrived() {
        return isRefused ? refusal.arrived() : cutter.passOn();
    }

    @Override
    public Optional<Reply> end() {
        if (isRefused) {
            return Optional.of(refusal.end());
        }
        cutter.end();
        return Optional.empty();
    }
}
