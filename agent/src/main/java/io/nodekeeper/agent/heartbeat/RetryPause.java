package io.nodekeeper.agent.heartbeat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Jitter;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How long to wait between the tries of one round. Kubernetes does not wait, so a server in trouble gets five calls at
 * once from every node; here a refusal or a broken connection is followed by a short pause. A call that ran out of time
 * has waited enough. Stateless.
 */
final class RetryPause {
    /** Tries of a round, as in Kubernetes. */
    static final int TRIES = 5;

    /** All four pauses together take 2.3 s at most: two rounds fit well into a lease's interval. Chosen. */
    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), Duration.ofMillis(800));

    private RetryPause() {}

    /** The pause after try {@code index} (from 0) ended with {@code error}. */
    static Duration after(Throwable error, int index, RandomGenerator random) {
        Throwable cause = Failures.cause(error);
        Throwable root = cause instanceof HeartbeatException && cause.getCause() != null ? cause.getCause() : cause;
        return root instanceof ApiException || root instanceof TransportException
                ? Jitter.stretch(BACKOFF.delay(index), 0.5, random)
                : Duration.ZERO;
    }
}
