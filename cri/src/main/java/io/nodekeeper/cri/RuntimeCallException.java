package io.nodekeeper.cri;

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

    /** Why it failed. */
    public Code code() {
        return code;
    }
}
