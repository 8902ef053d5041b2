package io.nodekeeper.cri;

/** The state of a container, in the order of CRI's numbers. */
public enum ContainerState {
    /** Created, not started. */
    CREATED,
    /** Started. */
    RUNNING,
    /** Ended. */
    EXITED,
    /** The runtime does not know. */
    UNKNOWN
}
