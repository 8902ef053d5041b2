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
     * Another process holds a lock on a file, or a mutex in memory that both share.
     *
     * @param file the path, or device and inode if no path is visible; for a mutex with its place in bytes
     * @param kind FLOCK, POSIX, OFDLCK or mutex
     */
    record ForLock(String file, String kind, List<Integer> holders) implements Wait {}

    /**
     * Other processes hold the other end of a pipe or FIFO.
     *
     * @param pipe {@code pipe:[INODE]}, or the path of a FIFO
     * @param blocked whether a thread is blocked in a read or write of it; otherwise the process only has it open
     */
    record ForPipe(String pipe, boolean blocked, List<Integer> holders) implements Wait {}

    /**
     * Other processes hold the other end of a socket.
     *
     * @param socket {@code socket:[INODE]}
     * @param peer the path of the server; empty if it has none or is not visible
     * @param blocked whether a thread is blocked in a read, write or connect; otherwise the process only has it open
     * @param progress how far the other end has come with what was sent
     */
    record ForSocket(String socket, String peer, boolean blocked, Progress progress, List<Integer> holders)
            implements Wait {}

    /** How far a server has come with the request of its client. */
    enum Progress {
        /** It has not accepted the connection. */
        NOT_ACCEPTED,
        /** It has accepted the connection, but has not read all that the client sent. */
        NOT_READ,
        /** It has read all that the client sent. */
        READ,
        /**
         * The kernel does not show the other end: it is in another network namespace or on another host, or the
         * kernel refuses the list of sockets.
         */
        UNSEEN
    }

    /** A thread waits in wait(2) until a child ends. */
    record ForChild(int child) implements Wait {
        @Override
        public List<Integer> holders() {
            return List.of(child);
        }
    }

    /** A thread waits for a file system that a process serves (FUSE); {@code holders} are its servers. */
    record ForServer(Stall.Mount mount, List<Integer> holders) implements Wait {}
}
