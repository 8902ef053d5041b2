package io.nodekeeper.simulator.cluster;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A transport that reports each write when it is sent. Confined to virtual time. */
final class WriteReporter implements Transport {
    private final Transport way;
    private final Consumer<Call> writes;

    /** {@code writes} receives each write before {@code way} sends it. */
    WriteReporter(Transport way, Consumer<Call> writes) {
        this.way = way;
        this.writes = writes;
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        if (!call.method().equals("GET")) {
            writes.accept(call);
        }
        return way.send(call);
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        return way.open(call, handler);
    }

    @Override
    public void close() {
        way.close();
    }
}
