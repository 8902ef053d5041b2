package io.nodekeeper.simulator;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import java.util.concurrent.CompletableFuture;

/** A transport that reports each write of a candidate when it is sent. Confined to virtual time. */
final class WrittenBy implements Transport {
    private final String identity;
    private final Transport way;
    private final SimController.Witness witness;

    WrittenBy(String identity, Transport way, SimController.Witness witness) {
        this.identity = identity;
        this.way = way;
        this.witness = witness;
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        if (!call.method().equals("GET")) {
            witness.writes(identity, call.toString());
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
