package io.nodekeeper.agent;

import org.jspecify.annotations.Nullable;

/** Something that the agent tried did not work; the message says what and on what. */
public class AgentException extends RuntimeException {

    /** {@code message} names what was tried. */
    public AgentException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
