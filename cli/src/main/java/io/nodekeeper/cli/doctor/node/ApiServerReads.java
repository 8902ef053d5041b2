package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.ServerDate;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.time.Loop;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What the API server says about this node. Each read is sent once, at the first request. Thread-safe. */
public final class ApiServerReads {
    private static final Duration DEADLINE = Duration.ofMillis(2_500);

    private final URI server;
    private final HttpTransport transport;
    private final CompletableFuture<Reply> ready;
    private final CompletableFuture<Reply> node;
    private final CompletableFuture<Reply> lease;

    /** Sends the reads. */
    ApiServerReads(ServerAccess access, String nodeName, Loop loop) {
        server = access.server();
        transport = new HttpTransport(access);
        ready = transport.send(Call.get("/readyz"), loop, DEADLINE);
        node = transport.send(Call.get(ResourceType.NODES.path() + "/" + nodeName), loop, DEADLINE);
        lease = transport.send(
                Call.get(ResourceType.LEASES.path(Lease.NODE_NAMESPACE) + "/" + nodeName), loop, DEADLINE);
    }

    URI server() {
        return server;
    }

    /** The answer of {@code /readyz}. */
    CompletableFuture<Reply> ready() {
        return ready;
    }

    /** The Node. */
    public CompletableFuture<Reply> node() {
        return node;
    }

    /** The node's lease. */
    public CompletableFuture<Reply> lease() {
        return lease;
    }

    /** The server's clock in its newest answer. */
    Optional<ServerDate> date() {
        return transport.serverDate();
    }

    void close() {
        transport.close();
    }
}
