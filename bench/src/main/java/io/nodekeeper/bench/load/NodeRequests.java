package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/** One request for each node, sent once, as fast as they are answered. Confined to the event loop. */
final class NodeRequests implements Clients.Work {
    /** Receives responses. */
    interface Taker {
        /** The body is valid only during the call. */
        void take(int node, ByteBuf body);
    }

    private final int count;
    private final IntFunction<byte[]> request;
    private final Taker taker;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private int sent;
    private int answered;

    NodeRequests(int count, IntFunction<byte[]> request, Taker taker) {
        this.count = count;
        this.request = request;
        this.taker = taker;
    }

    /** Completes when all succeeded; fails with the first refusal. */
    CompletableFuture<Void> done() {
        return done;
    }

    int answered() {
        return answered;
    }

    @Override
    public boolean next(KeepAliveConnection exchange) {
        if (sent == count || done.isDone()) {
            return false;
        }
        byte[] bytes = request.apply(sent);
        exchange.about = sent++;
        exchange.send(exchange.buffer(bytes.length).writeBytes(bytes));
        return true;
    }

    @Override
    public void answered(KeepAliveConnection exchange, int status, ByteBuf body) {
        if (status >= 300) {
            done.completeExceptionally(new IllegalStateException(
                    "answered with " + status + ": " + body.toString(StandardCharsets.UTF_8)));
            return;
        }
        taker.take(exchange.about, body);
        if (++answered == count) {
            done.complete(null);
        }
    }
}
