package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.CommandLines.Program;
import io.nodekeeper.agent.culprit.scan.proc.HostNamespaces;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The programs of processes, each read once. What a process says about itself counts only outside of containers: inside, anyone
 * can choose the arguments of a shim or of runc. Serves one scan; {@link #reading} is thread-safe.
 */
final class Programs {
    private final ProcFiles files;
    private final ScanMemory memory;
    private final HostNamespaces host;
    private volatile String reading = "";
    /** Whether the program that was read last claims a role that it does not have. */
    private boolean pretends;

    Programs(ProcFiles files, ScanMemory memory, HostNamespaces host) {
        this.files = files;
        this.memory = memory;
        this.host = host;
    }

    /** The process whose memory or files are being read, as {@link ProcessRef#identity}; empty if none is. */
    String reading() {
        return reading;
    }

    /** Does {@code work} that reads the memory or the files of a process and may hang. */
    <T> T read(ProcFiles.Stat stat, Supplier<T> work) {
        reading = identity(stat);
        try {
            return work.get();
        } finally {
            reading = "";
        }
    }

    /** Whether an earlier scan hung at that process. */
    boolean isUnreadable(ProcFiles.Stat stat) {
        return memory.hung(identity(stat), 1);
    }

    /** Whether another scan hung at that process, although its memory was left alone. */
    boolean isOpaque(ProcFiles.Stat stat) {
        return memory.hung(identity(stat), 2);
    }

    private static String identity(ProcFiles.Stat stat) {
        return new ProcessRef(stat.pid(), stat.startTicks(), "").identity();
    }

    /** The arguments of a process whose program is known; empty for others. */
    List<String> arguments(int pid) {
        Program known = memory.programs().get(pid);
        return known == null ? List.of() : known.arguments();
    }

    /** The program of a process. */
    Program of(ProcFiles.Stat stat) {
        Program known = memory.programs().get(stat.pid());
        if (known != null && known.isOf(stat)) {
            return known;
        }
        pretends = false;
        // Kernel threads have no arguments; a process that made an earlier scan hang is skipped.
        Program program = Program.isKernelThread(stat) || isUnreadable(stat)
                ? Program.of(stat, List.of(), Map.of())
                : read(stat, () -> ofMemory(stat));
        // An ended process has no arguments any more; a starting one has none yet. One that pretends is examined again:
        // it may have the runtime's namespaces, which are not known while that does not run.
        if (!pretends && (!program.arguments().isEmpty() || program.kernelThread())) {
            memory.programs().put(stat.pid(), program);
        }
        return known != null
                        && known.startTicks() == stat.startTicks()
                        && program.arguments().isEmpty()
                ? known
                : program;
    }

    private Program ofMemory(ProcFiles.Stat stat) {
        List<String> arguments = files.arguments(stat.pid());
        Map<String, String> cni = CommandLines.variables(files.environment(stat.pid()).stream()
                .filter(variable -> variable.startsWith("CNI_"))
                .toList());
        Program program = Program.of(stat, arguments, cni);
        pretends = program.claimsRole() && isContained(stat.pid());
        return pretends ? program.withoutRole() : program;
    }

    /**
     * Whether it runs in a container. The cgroup alone does not tell: Kata's shims, and what conmon starts, are in that of their
     * pod.
     */
    private boolean isContained(int pid) {
        return !new CgroupFiles(files).ids(pid).isEmpty() && !host.has(pid);
    }
}
