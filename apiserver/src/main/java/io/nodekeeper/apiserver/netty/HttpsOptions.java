package io.nodekeeper.apiserver.netty;

import io.nodekeeper.time.Clock;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * What an {@link HttpsServer} is told.
 *
 * @param address where to listen; port 0 for any free one
 * @param clock for the {@code Date} header
 * @param workers where large answers are compressed
 * @param drain how long requests under way may take to end when the server closes
 * @param memory bytes that bodies under way may take in all, and answers that are not read yet as much again
 */
public record HttpsOptions(InetSocketAddress address, Clock clock, Executor workers, Duration drain, long memory) {
    /** Kubernetes lets requests take 60 s and wants the process gone by then: ten seconds are left for the store. */
    public static final Duration DRAIN = Duration.ofSeconds(50);

    /**
     * The default options: {@link #DRAIN}, and an eighth of the heap, so that request bodies and unread answers
     * together use at most a quarter of it.
     */
    public static HttpsOptions of(InetSocketAddress address, Clock clock, Executor workers) {
        return new HttpsOptions(
                address, clock, workers, DRAIN, Runtime.getRuntime().maxMemory() / 8);
    }
}
