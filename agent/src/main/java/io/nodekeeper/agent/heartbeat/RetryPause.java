package io.nodekeeper.agent.heartbeat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Jitter;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The pause between the attempts of one round. Kubernetes does not pause, so an overloaded server gets five calls
 * within a moment from every node; here a short pause follows an error response or a broken connection. After a timeout
 * there is none. Stateless.
 */
final class RetryPause {
    /** Attempts in a round, as in Kubernetes. */
    static final int TRIES = 5;

    /** All four pauses together take 2.3 s at most, so two rounds fit into a lease's interval (10 s). */
    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), Duration.ofMillis(800));

    private RetryPause() {}

    /** The pause after attempt {@code index} (from 0) ended with {@code error}. */
    static Duration after(Throwable error, int index, RandomGenerator random) {
        Throwable cause = Failures.cause(error);
        Throwable root = cause instanceof HeartbeatException && cause.getCause() != null ? cause.getCause() : cause;
        return root instanceof ApiException || root instanceof TransportException
                ? Jitter.stretch(BACKOFF.delay(index), 0.5, random)
                : Duration.ZERO;
    }
}
