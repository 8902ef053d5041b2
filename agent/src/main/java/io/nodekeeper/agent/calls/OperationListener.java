package io.nodekeeper.agent.calls;

import java.time.Duration;

/** Hears of every call to the runtime that ended. */
@FunctionalInterface
public interface OperationListener {
    /** Nobody listens. */
    OperationListener NONE = (method, duration, failed) -> {};

    /** A call of {@code method} (CRI's name) ended after {@code duration}. */
    void ended(String method, Duration duration, boolean failed);
}
