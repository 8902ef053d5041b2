package io.nodekeeper.it.faults;

/** Where a fault is. */
enum Layer {
    CONTAINERD("containerd"),
    SHIM("shim"),
    RUNC("runc"),
    CNI_PLUGIN("CNI plugin"),
    CNI_CHILD("child of a CNI plugin"),
    DAEMON("daemon of a command"),
    CONTAINER("container"),
    CGROUP("cgroup above"),
    DISK("disk"),
    FILE_SERVER("FUSE server"),
    SOCKET("containerd's socket"),
    LIMIT("limit");

    private final String text;

    Layer(String text) {
        this.text = text;
    }

    /** As the table shows it. */
    String text() {
        return text;
    }
}
