package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.CommandLines.Program;
import io.nodekeeper.agent.culprit.scan.proc.OpenFileIndex;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.culprit.scan.proc.SocketOwners;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the scans of one machine remember. The maps are bounded by the machine's processes; they and the owners are thread-safe. The open
 * files serve one scan at a time.
 *
 * @param owners who listens on which socket
 * @param openFiles what processes have open
 * @param programs by pid
 * @param hangs how many scans hung at a process, by {@link ProcessRef#identity}; as many processes as scans that hung
 * @param elsewhere the processes that are not of the runtime, as the last complete scan found
 * @param strangers how many scans in a row found that a command does not belong to the runtime, by pid
 */
record ScanMemory(
        SocketOwners owners,
        OpenFileIndex openFiles,
        ConcurrentHashMap<Integer, Program> programs,
        ConcurrentHashMap<String, Integer> hangs,
        Set<Integer> elsewhere,
        ConcurrentHashMap<Integer, Stranger> strangers) {
    /** The scans after which a command of another runtime is left alone while nothing is late: each search reads all open files. */
    private static final int SURE = 3;

    /** A process that is not of the runtime, by so many scans. */
    record Stranger(long startTicks, int scans) {}

    static ScanMemory empty(ProcFiles files) {
        return new ScanMemory(
                new SocketOwners(files),
                new OpenFileIndex(files),
                new ConcurrentHashMap<>(),
                new ConcurrentHashMap<>(),
                ConcurrentHashMap.newKeySet(),
                new ConcurrentHashMap<>());
    }

    /** The memory after a scan that hung, which may still use the parts that serve one scan at a time. */
    ScanMemory afterHang(ProcFiles files) {
        return new ScanMemory(owners, new OpenFileIndex(files), programs, hangs, elsewhere, strangers);
    }

    /** A scan hung at a process: its memory, or else its system calls, are not read again. */
    void hung(String process) {
        hangs.merge(process, 1, Integer::sum);
    }

    /** A scan that hung at a process has ended after all: it was slow, or the process goes on. */
    void returned(String process) {
        hangs.computeIfPresent(process, (name, times) -> times == 1 ? null : times - 1);
    }

    /** Whether at least {@code times} scans hung at a process. */
    boolean hung(String process, int times) {
        return hangs.getOrDefault(process, 0) >= times;
    }

    /** Forgets the processes that have ended. */
    void keep(Set<Integer> pids) {
        programs.keySet().retainAll(pids);
        strangers.keySet().retainAll(pids);
        elsewhere.retainAll(pids);
    }

    /** A complete scan found that these are not of the runtime. */
    void elsewhere(Set<Integer> pids) {
        elsewhere.clear();
        elsewhere.addAll(pids);
    }

    /** Whether the last complete scan found a thread of the kernel, or a process that is not of the runtime. */
    boolean isElsewhere(int pid) {
        Program known = programs.get(pid);
        return elsewhere.contains(pid) || known != null && known.kernelThread();
    }

    /** A complete search showed whether a command belongs to the runtime. */
    void belongs(ProcFiles.Stat stat, boolean own) {
        if (own) {
            strangers.remove(stat.pid());
        } else {
            strangers.put(stat.pid(), new Stranger(stat.startTicks(), Math.min(SURE, scans(stat) + 1)));
        }
    }

    /** Whether it is certain that a command does not belong to the runtime. */
    boolean isStranger(ProcFiles.Stat stat) {
        return scans(stat) >= SURE;
    }

    private int scans(ProcFiles.Stat stat) {
        Stranger known = strangers.get(stat.pid());
        return known != null && known.startTicks() == stat.startTicks() ? known.scans() : 0;
    }
}
