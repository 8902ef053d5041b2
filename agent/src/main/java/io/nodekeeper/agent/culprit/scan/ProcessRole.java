package io.nodekeeper.agent.culprit.scan;

/** What a process is to the runtime. */
public enum ProcessRole {
    /** Listens on the runtime's socket. */
    RUNTIME,
    /** Holds the containers of one pod. */
    SHIM,
    /** A command of runc or its like, or a shim's own short commands. */
    OCI_RUNTIME,
    /** Sets up or takes down a pod's network. */
    CNI_PLUGIN,
    /** Runs in a container. */
    CONTAINER,
    /** Started by one of the others for a purpose of its own. */
    HELPER
}
