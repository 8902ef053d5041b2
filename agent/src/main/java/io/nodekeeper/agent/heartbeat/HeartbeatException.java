package io.nodekeeper.agent.heartbeat;

import org.jspecify.annotations.Nullable;

/** A failed step of a heartbeat; the message names the step and its object. */
public class HeartbeatException extends RuntimeException {

    /** {@code message} names the failed step. */
    public HeartbeatException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
