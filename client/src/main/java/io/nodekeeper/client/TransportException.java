package io.nodekeeper.client;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if there was no answer: the server could not be reached, or the connection broke. The message names the call.
 */
public final class TransportException extends RuntimeException {

    /** {@code message} names the call and what happened to it. */
    public TransportException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
