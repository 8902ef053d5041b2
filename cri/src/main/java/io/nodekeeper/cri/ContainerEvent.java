package io.nodekeeper.cri;

/**
 * Something happened to a container or sandbox.
 *
 * @param id the container's or sandbox's
 * @param podUid empty if the runtime does not tell
 */
public record ContainerEvent(String id, String podUid, Type type) {

    /** What happened. */
    public enum Type {
        /** It was made. */
        CREATED,
        /** It was started. */
        STARTED,
        /** It ended. */
        STOPPED,
        /** It is gone. */
        DELETED
    }
}
