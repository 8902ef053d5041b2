package io.nodekeeper.agent.pods.garbage;

/** Gets what was removed, for metrics, and what failed, for events on the Node. Called on the agent's loop. */
public interface GarbageListener {
    /**
     * An image was removed.
     *
     * @param reason {@code space} or {@code age}
     */
    void imageRemoved(String reason);

    /** What went wrong, with a kubelet's reason: {@code ImageGCFailed}, {@code FreeDiskSpaceFailed}, {@code InvalidDiskCapacity}. */
    void failed(String reason, String message);
}
