package io.nodekeeper.agent.shutdown;

import java.time.Instant;

/** Receives when shutdowns of the machine begin and end, for metrics. Called on the agent's loop. */
public interface ShutdownMetrics {
    /** A shutdown began. */
    void shutdownBegan(Instant time);

    /** The pods have ended or their time is over, or the shutdown was cancelled. */
    void shutdownEnded(Instant time);
}
