package io.nodekeeper.agent.culprit.scan;

/** The role of a process in the container runtime. */
public enum ProcessRole {
    /** Listens on the runtime's socket. */
    RUNTIME,
    /** Holds the containers of one pod. */
    SHIM,
    /** A command of runc or another OCI runtime, or a shim's own short commands. */
    OCI_RUNTIME,
    /** Sets up or tears down a pod's network. */
    CNI_PLUGIN,
    /** Runs in a container. */
    CONTAINER,
    /** Started by one of the others for another purpose. */
    HELPER,
    /** Not of this runtime, but one of its processes waits for it. */
    OUTSIDER
}
