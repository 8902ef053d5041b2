package io.nodekeeper.cri;

import io.nodekeeper.time.DeadlineExceededException;
import org.jspecify.annotations.Nullable;

/**
 * A call that the runtime refused, or that did not reach it; the message has method, code and the runtime's error
 * message.
 */
public final class RuntimeCallException extends RuntimeException {

    /** The reason, as far as callers distinguish gRPC's codes. */
    public enum Code {
        /** There is no such sandbox or container. */
        NOT_FOUND,
        /** The runtime does not have this method. */
        UNIMPLEMENTED,
        /** No process listens on the socket, or the connection broke. */
        UNAVAILABLE,
        /** The runtime itself timed out. */
        DEADLINE_EXCEEDED,
        /** The call was cancelled. */
        CANCELLED,
        /** What came back is not HTTP/2, not gRPC, or not the message that was expected. */
        UNREADABLE,
        /** The answer is larger than it may be. */
        TOO_LARGE,
        /** This process did not send the call, so it says nothing about the runtime; see the message. */
        NOT_SENT,
        /** Any other reason; see the message. */
        OTHER
    }

    private final Code code;

    /** A failed call of {@code method}; {@code message} is the runtime's error message. */
    public RuntimeCallException(String method, Code code, String message) {
        super(method + ": " + code + ": " + message);
        this.code = code;
    }

    /** Whether a call failed because no answer came in time, whether the deadline passed here or in the runtime. */
    public static boolean isTimeout(Throwable cause) {
        return cause instanceof DeadlineExceededException || isCode(cause, Code.DEADLINE_EXCEEDED);
    }

    /** Whether {@code cause} is a call that failed for that reason. */
    public static boolean isCode(@Nullable Throwable cause, Code code) {
        return cause instanceof RuntimeCallException failed && failed.code == code;
    }

    /** The reason. */
    public Code code() {
        return code;
    }
}
