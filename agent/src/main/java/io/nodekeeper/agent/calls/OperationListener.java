package io.nodekeeper.agent.calls;

import java.time.Duration;

/** Receives every completed call to the runtime, for metrics. */
@FunctionalInterface
public interface OperationListener {
    /** Ignores all calls. */
    OperationListener NONE = (method, duration, failed) -> {};

    /** A call of {@code method} (CRI's name) ended after {@code duration}. */
    void ended(String method, Duration duration, boolean failed);
}
