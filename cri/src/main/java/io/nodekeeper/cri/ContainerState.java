package io.nodekeeper.cri;

/** How far a container's life has come, as CRI numbers it. */
public enum ContainerState {
    /** Made, not started. */
    CREATED,
    /** Started. */
    RUNNING,
    /** Ended. */
    EXITED,
    /** The runtime does not know. */
    UNKNOWN
}
