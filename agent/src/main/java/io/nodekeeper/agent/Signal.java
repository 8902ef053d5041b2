package io.nodekeeper.agent;

import java.util.Arrays;
import java.util.Optional;

/** What the eviction thresholds watch, by Kubernetes' names, and the condition that each one raises. */
public enum Signal {
    /** Memory that is not part of the working set. */
    MEMORY_AVAILABLE("memory.available", Pressure.MEMORY),
    /** As {@link #MEMORY_AVAILABLE}, of what pods may use. Not measured without a pod cgroup. */
    ALLOCATABLE_MEMORY_AVAILABLE("allocatableMemory.available", Pressure.MEMORY),
    /** Bytes on the file system of the root directory. */
    NODEFS_AVAILABLE("nodefs.available", Pressure.DISK),
    /** Inodes on the file system of the root directory. */
    NODEFS_INODES_FREE("nodefs.inodesFree", Pressure.DISK),
    /** Bytes on the file system of the images. Not measured without a container runtime. */
    IMAGEFS_AVAILABLE("imagefs.available", Pressure.DISK),
    /** As {@link #IMAGEFS_AVAILABLE}, inodes. */
    IMAGEFS_INODES_FREE("imagefs.inodesFree", Pressure.DISK),
    /** Process ids. */
    PID_AVAILABLE("pid.available", Pressure.PID);

    private final String text;
    private final Pressure pressure;

    Signal(String text, Pressure pressure) {
        this.text = text;
        this.pressure = pressure;
    }

    /** The condition that a met threshold raises. */
    public Pressure pressure() {
        return pressure;
    }

    /** The signal of that name. */
    static Optional<Signal> named(String text) {
        return Arrays.stream(values())
                .filter(signal -> signal.text.equals(text))
                .findFirst();
    }

    @Override
    public String toString() {
        return text;
    }
}
