package io.nodekeeper.agent.culprit.diagnosis;

/** Where in the stack below a call to the runtime something hangs; the earlier ones explain the later ones. */
public enum Layer {
    /** The runtime's own process. */
    RUNTIME("container runtime"),
    /** A file system or the disk below it. */
    DISK("disk"),
    /** A process that no signal reaches. */
    PROCESS("process"),
    /** The process that holds one pod's containers. */
    SHIM("shim"),
    /** A command of runc or its like. */
    OCI_RUNTIME("OCI runtime"),
    /** A program that sets up or takes down a pod's network. */
    CNI_PLUGIN("CNI plugin"),
    /** What the runtime holds in memory about one pod or container. */
    CONTAINER("container");

    private final String text;

    Layer(String text) {
        this.text = text;
    }

    /** The name for people. */
    public String text() {
        return text;
    }
}
