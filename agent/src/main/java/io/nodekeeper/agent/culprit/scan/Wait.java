package io.nodekeeper.agent.culprit.scan;

import java.util.List;

/**
 * What keeps a process from running, as the kernel reports it. Other processes are named by their pids; the scan that
 * finds a wait also returns those processes. Equal while the wait lasts. Immutable.
 */
public sealed interface Wait {
    /** The processes that can end the wait; empty if the kernel names none. */
    List<Integer> holders();

    /** A tracer, such as a debugger, holds the process in state t. */
    record Traced(int tracer) implements Wait {
        @Override
        public List<Integer> holders() {
            return List.of(tracer);
        }
    }

    /**
     * The cgroup freezer holds the process.
     *
     * @param cgroup the directory of the cgroup that was frozen: the process's own cgroup, or one above it
     * @param version of cgroups, 1 or 2
     * @param inherited whether it is one above the process's own
     */
    record Frozen(String cgroup, int version, boolean inherited) implements Wait {
        @Override
        public List<Integer> holders() {
            return List.of();
        }
    }

    /**
     * Another process holds a lock on a file.
     *
     * @param file the path, or device and inode if no path is visible
     * @param kind FLOCK, POSIX or OFDLCK
     */
    record ForLock(String file, String kind, List<Integer> holders) implements Wait {}

    /**
     * Other processes hold the other end of a pipe or FIFO.
     *
     * @param pipe {@code pipe:[INODE]}, or the path of a FIFO
     * @param blocked whether a thread is blocked in a read or write of it; otherwise the process only has it open
     */
    record ForPipe(String pipe, boolean blocked, List<Integer> holders) implements Wait {}

    /** A thread waits for a file system that a process serves (FUSE); {@code holders} are its servers. */
    record ForServer(Stall.Mount mount, List<Integer> holders) implements Wait {}
}
