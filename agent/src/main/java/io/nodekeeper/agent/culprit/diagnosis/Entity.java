package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.cri.RuntimeCall;

/** Something that waits, or for which others wait. Immutable. */
sealed interface Entity {
    /** A call to the runtime. */
    record Call(RuntimeCall<?> call) implements Entity {}

    /** A process, with all its threads. */
    record Pid(int pid) implements Entity {}

    /** A process that traces another. */
    record Tracer(int pid) implements Entity {}

    /** A frozen cgroup. */
    record Freezer(String cgroup, int version) implements Entity {}

    /** A lock on a file. */
    record FileLock(String file) implements Entity {}

    /** A pipe or FIFO. */
    record Pipe(String name) implements Entity {}

    /** A mounted file system. */
    record MountPoint(String point) implements Entity {}

    /** The processor quota of a process's cgroup. */
    record Quota(int pid) implements Entity {}
}
