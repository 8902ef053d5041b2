package io.nodekeeper.agent.eviction;

import io.nodekeeper.agent.facts.Level;

/**
 * A threshold for which pods are to be evicted. Immutable.
 *
 * @param level the measurement that is too low
 * @param measuredAt when the node was measured, by the monotonic clock in ns
 */
public record Shortage(Threshold threshold, Level level, long measuredAt) {

    /** Whether it is of bytes or inodes of a disk. */
    public boolean isOfDisk() {
        return threshold.signal().pressure() == Pressure.DISK;
    }

    /** Whether it is of the disk that has images and what containers wrote, which may be the node's. */
    public boolean isOfImages() {
        return switch (threshold.signal()) {
            case IMAGEFS_AVAILABLE, IMAGEFS_INODES_FREE, CONTAINERFS_AVAILABLE, CONTAINERFS_INODES_FREE -> true;
            default -> false;
        };
    }

    /** The resource as Kubernetes names it in messages. */
    public String resource() {
        return switch (threshold.signal()) {
            case MEMORY_AVAILABLE, ALLOCATABLE_MEMORY_AVAILABLE -> "memory";
            case PID_AVAILABLE -> "pids";
            case NODEFS_INODES_FREE, IMAGEFS_INODES_FREE, CONTAINERFS_INODES_FREE -> "inodes";
            case NODEFS_AVAILABLE, IMAGEFS_AVAILABLE, CONTAINERFS_AVAILABLE -> "ephemeral-storage";
        };
    }
}
