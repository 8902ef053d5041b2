package io.nodekeeper.agent.culprit.scan;

/**
 * A limit that a process has reached. Immutable.
 *
 * @param where the cgroup's directory, the mount point, or empty for a limit of the process itself
 * @param used how much is used, in the kind's unit
 * @param max the limit
 */
public record Limit(Kind kind, String where, long used, long max) {

    /** What is used up. */
    public enum Kind {
        /** Open files of the process (RLIMIT_NOFILE). */
        OPEN_FILES,
        /** Processes and threads in the cgroup (pids.max). */
        PROCESSES,
        /** Memory of the cgroup beyond memory.high, so that the kernel slows its processes down; bytes. */
        MEMORY_HIGH,
        /** Bytes of the file system. */
        DISK_SPACE,
        /** Inodes of the file system. */
        INODES
    }
}
