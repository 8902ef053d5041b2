package io.nodekeeper.cri;

import io.nodekeeper.time.DeadlineExceededException;

/** A call that the runtime refused, or that did not reach it; the message names method, code and the runtime's own words. */
public final class RuntimeCallException extends RuntimeException {

    /** Why, in gRPC's codes as far as they matter here. */
    public enum Code {
        /** There is no such sandbox or container. */
        NOT_FOUND,
        /** The runtime does not have this method. */
        UNIMPLEMENTED,
        /** Nobody listens at the socket, or the connection broke. */
        UNAVAILABLE,
        /** The runtime itself gave the call up. */
        DEADLINE_EXCEEDED,
        /** The call was taken back. */
        CANCELLED,
        /** Anything else; the message tells. */
        OTHER
    }

    private final Code code;

    /** A failed call of {@code method}; {@code message} is what the runtime said. */
    public RuntimeCallException(String method, Code code, String message) {
        super(method + ": " + code + ": " + message);
        this.code = code;
    }

    /** Whether a call failed for want of an answer in time, be it that we or that the runtime gave up waiting. */
    public static boolean isTimeout(Throwable cause) {
        return cause instanceof DeadlineExceededException
                || cause instanceof RuntimeCallException refused && refused.code == Code.DEADLINE_EXCEEDED;
    }

    /** Why it failed. */
    public Code code() {
        return code;
    }
}
