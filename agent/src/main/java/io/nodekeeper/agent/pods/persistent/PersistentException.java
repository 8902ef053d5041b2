package io.nodekeeper.agent.pods.persistent;

/** A persistent volume cannot be mounted or unmounted now; reason and message are those of a kubelet's event. */
public final class PersistentException extends RuntimeException {
    /** The usual reason of the event. */
    public static final String FAILED_MOUNT = "FailedMount";
    /** The reason of the event if the volume is not attached to the node. */
    public static final String FAILED_ATTACH = "FailedAttachVolume";

    private final String reason;

    PersistentException(String reason, String message) {
        super(message);
        this.reason = reason;
    }

    PersistentException(String message) {
        this(FAILED_MOUNT, message);
    }

    /** The reason of the event. */
    public String reason() {
        return reason;
    }
}
