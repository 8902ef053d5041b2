package io.nodekeeper.cri;

/**
 * An event about a container or sandbox.
 *
 * @param id the id of the container or sandbox
 * @param podUid empty if the runtime does not report it
 */
public record ContainerEvent(String id, String podUid, Type type) {

    /** What happened. */
    public enum Type {
        /** It was created. */
        CREATED,
        /** It was started. */
        STARTED,
        /** It ended. */
        STOPPED,
        /** It was deleted. */
        DELETED
    }
}
