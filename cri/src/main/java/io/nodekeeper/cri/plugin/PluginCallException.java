package io.nodekeeper.cri.plugin;

import io.nodekeeper.cri.grpc.GoStatus;

/** A plugin refused a call, or did not answer it; the message is that of a client in Go, as in a kubelet's events. */
public final class PluginCallException extends RuntimeException {
    /** gRPC's code of a call that was not answered in time, in Go's spelling. */
    public static final String DEADLINE_EXCEEDED = "DeadlineExceeded";

    private final String code;

    /** An error with gRPC's {@code code} in Go's spelling, such as {@code NotFound}. */
    public PluginCallException(String code, String description) {
        super(GoStatus.error(code, description));
        this.code = code;
    }

    /** The error of a call whose deadline has passed. */
    public static PluginCallException late() {
        return new PluginCallException(DEADLINE_EXCEEDED, "context deadline exceeded");
    }

    /** gRPC's code in Go's spelling. */
    public String code() {
        return code;
    }
}
