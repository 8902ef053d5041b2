package io.nodekeeper.agent.culprit.diagnosis;

/**
 * The layers below a call to the runtime in which something can hang; earlier ones can be the cause of hangs in later
 * ones.
 */
public enum Layer {
    /** The runtime's own process. */
    RUNTIME("container runtime"),
    /** A file system or the disk below it. */
    DISK("disk"),
    /** A process that signals cannot end, or that others wait for, or a limit that processes have reached. */
    PROCESS("process"),
    /** The process that holds one pod's containers. */
    SHIM("shim"),
    /** A command of runc or another OCI runtime. */
    OCI_RUNTIME("OCI runtime"),
    /** A program that sets up or takes down a pod's network. */
    CNI_PLUGIN("CNI plugin"),
    /** The runtime's state in memory for one pod or container. */
    CONTAINER("container");

    private final String text;

    Layer(String text) {
        this.text = text;
    }

    /** The display name. */
    public String text() {
        return text;
    }
}
