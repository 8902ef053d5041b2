package io.nodekeeper.apiserver.netty;

import io.nodekeeper.apiserver.netty.connections.ConnectionLimits;
import io.nodekeeper.apiserver.netty.nodes.NodeIdentity;
import io.nodekeeper.time.Clock;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * The options of an {@link HttpsServer}.
 *
 * @param address the address to listen on; port 0 for any free port
 * @param clock the clock for the {@code Date} header
 * @param workers makes the pieces of large responses, and compresses others
 * @param drain how long the server waits for active requests when it closes
 * @param memory the most bytes of all incoming bodies together; unread responses may use as much again, and so may unread
 *     events of watches
 * @param connections the limits of connections
 * @param nodes how the server shows itself to nodes; empty if it does not connect to them
 */
public record HttpsOptions(
        InetSocketAddress address,
        Clock clock,
        Executor workers,
        Duration drain,
        long memory,
        ConnectionLimits connections,
        Optional<NodeIdentity> nodes) {
    /** Kubernetes stops a process after 60 s; this leaves ten seconds to close the store. */
    private static final Duration DRAIN = Duration.ofSeconds(50);

    /**
     * The default options: a drain time of 50 s, and an eighth of the heap, so that request bodies, unread responses
     * and unread events together use at most three eighths of it.
     */
    public static HttpsOptions of(InetSocketAddress address, Clock clock, Executor workers) {
        return new HttpsOptions(
                address, clock, workers, DRAIN, Runtime.getRuntime().maxMemory() / 8);
    }

    /** Options of a server that does not connect to nodes, with the limits of connections of this process. */
    public HttpsOptions(InetSocketAddress address, Clock clock, Executor workers, Duration drain, long memory) {
        this(address, clock, workers, drain, memory, ConnectionLimits.ofProcess(), Optional.empty());
    }

    /** The same for a server that shows {@code identity} to nodes. */
    public HttpsOptions with(NodeIdentity identity) {
        return new HttpsOptions(address, clock, workers, drain, memory, connections, Optional.of(identity));
    }

    /** The same with other limits of connections. */
    HttpsOptions with(ConnectionLimits limits) {
        return new HttpsOptions(address, clock, workers, drain, memory, limits, nodes);
    }
}
