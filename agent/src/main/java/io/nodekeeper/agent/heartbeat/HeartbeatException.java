package io.nodekeeper.agent.heartbeat;

import org.jspecify.annotations.Nullable;

/** Something that the agent tried did not work; the message says what and on what. */
public class HeartbeatException extends RuntimeException {

    /** {@code message} names what was tried. */
    public HeartbeatException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
