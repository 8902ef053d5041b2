package io.nodekeeper.apiserver.netty;

import io.nodekeeper.time.Clock;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * The options of an {@link HttpsServer}.
 *
 * @param address the address to listen on; port 0 for any free port
 * @param clock the clock for the {@code Date} header
 * @param workers compresses large responses
 * @param drain how long the server waits for active requests when it closes
 * @param memory the most bytes of all incoming bodies together; unread responses may use as much again
 */
public record HttpsOptions(InetSocketAddress address, Clock clock, Executor workers, Duration drain, long memory) {
    /** Kubernetes stops a process after 60 s; this leaves ten seconds to close the store. */
    private static final Duration DRAIN = Duration.ofSeconds(50);

    /**
     * The default options: a drain time of 50 s, and an eighth of the heap, so that request bodies and unread responses
     * together use at most a quarter of it.
     */
    public static HttpsOptions of(InetSocketAddress address, Clock clock, Executor workers) {
        return new HttpsOptions(
                address, clock, workers, DRAIN, Runtime.getRuntime().maxMemory() / 8);
    }
}
