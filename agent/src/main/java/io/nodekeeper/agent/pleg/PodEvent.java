package io.nodekeeper.agent.pleg;

/**
 * A change of a pod. Immutable.
 *
 * @param id the container's or sandbox's; the pod's UID for {@code POD_SYNC}
 */
public record PodEvent(String podUid, Type type, String id) {

    /** The kind of change. */
    public enum Type {
        /** A container or sandbox has started. */
        STARTED,
        /** It no longer runs. */
        DIED,
        /** It no longer exists. */
        REMOVED,
        /** The pod could be inspected again, after a failure; nothing else changed. */
        POD_SYNC
    }
}
