package io.nodekeeper.cri;

/** A condition that the runtime reports about itself; {@code type} is {@code RuntimeReady} or {@code NetworkReady}. */
public record RuntimeCondition(String type, boolean status, String reason, String message) {
    /** Whether the runtime can run containers. */
    public static final String RUNTIME_READY = "RuntimeReady";
    /** Whether the runtime can give pods a network. */
    public static final String NETWORK_READY = "NetworkReady";
}
