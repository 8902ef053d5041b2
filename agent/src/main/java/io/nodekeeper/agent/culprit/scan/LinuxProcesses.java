package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.host.Statvfs;
import io.nodekeeper.agent.host.UnixDiag;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/**
 * Scans the runtime's processes on this Linux machine. A scan reads one line for each process of the machine, and more
 * only for the runtime's. Reading the memory of a stuck process can hang: such a scan is abandoned, the process is
 * skipped from then on, and the next scan runs on another worker. Thread-safe.
 */
public final class LinuxProcesses implements ProcessTable {
    /** The deadline of a scan: a scan takes milliseconds, so one that takes this long hangs. */
    private static final Duration DEADLINE = Duration.ofSeconds(2);
    /** The most hung scans, each of which blocks a worker; with more, scanning stops. One process can hang two. */
    private static final int MOST_HUNG = 4;
    /** Limits are read at each third scan while nothing is late: every 15 s, some ten files. */
    private static final int LIMITS_EVERY = 3;
    /**
     * While nothing is late, threads of the kernel and processes outside of the runtime are read at each fourth scan only, every
     * 20 s: a machine has hundreds, and another process gets such a pid only after all others were used.
     */
    private static final int COMPLETE_EVERY = 4;

    private final ProcFiles files;
    private final String socket;
    private final Workers workers;
    private final Clock clock;
    private final AtomicInteger underWay = new AtomicInteger();
    private final RuntimeSpace space;
    private final AtomicInteger scans = new AtomicInteger();
    private volatile ScanMemory memory;
    private volatile Map<String, List<Limit>> limits = Map.of();

    /**
     * The processes of the runtime at {@code socket}.
     *
     * @param root {@code /}, except in tests
     * @param socket the path that the runtime and its shims use
     * @param clock for the bounds in time of a scan
     */
    public LinuxProcesses(Path root, Path socket, Workers workers, Clock clock) {
        this.files = new ProcFiles(root);
        this.socket = socket.toString();
        this.workers = workers;
        this.clock = clock;
        this.memory = ScanMemory.empty(files);
        this.space = new RuntimeSpace(files, workers, Statvfs::of);
    }

    @Override
    public CompletableFuture<List<ProcessInfo>> scan(Set<String> ids, boolean deep) {
        int number = scans.getAndIncrement();
        boolean readLimits = deep || number % LIMITS_EVERY == 0;
        boolean complete = deep || number % COMPLETE_EVERY == 0;
        ProcessScan scan = new ProcessScan(
                files, memory, UnixDiag::sockets, socket, Set.copyOf(ids), deep, readLimits, complete, clock);
        if (underWay.get() >= MOST_HUNG) {
            return CompletableFuture.failedFuture(
                    new IOException(MOST_HUNG + " earlier scans of /proc have not returned yet"));
        }
        AtomicReference<String> hungAt = new AtomicReference<>("");
        CompletableFuture<List<ProcessInfo>> scanned = workers.call("a scan of /proc", DEADLINE, () -> {
            // Here, because a call that finds no worker never begins.
            underWay.incrementAndGet();
            try {
                return withLimits(scan.run(), readLimits);
            } finally {
                underWay.decrementAndGet();
                memory.returned(Objects.requireNonNullElse(hungAt.get(), ""));
            }
        });
        scanned.whenComplete((processes, error) -> {
            String hung = scan.reading();
            if (error != null && Failures.cause(error) instanceof DeadlineExceededException) {
                if (!hung.isEmpty()) {
                    memory.hung(hung);
                    hungAt.set(hung);
                }
                memory = memory.afterHang(files);
            }
        });
        return scanned;
    }

    @Override
    public CompletableFuture<Boolean> changed(List<ProcessInfo> processes) {
        return workers.call(
                "a look at known processes",
                DEADLINE,
                () -> processes.stream()
                        .anyMatch(info -> state(info.ref())
                                .filter(now -> ProcessInfo.isHalted(now) == info.isHalted())
                                .isEmpty()));
    }

    /** The processes with the limits that they had reached when these were last read. */
    private List<ProcessInfo> withLimits(List<ProcessInfo> processes, boolean read) {
        if (read) {
            processes.stream()
                    .filter(info -> info.role() == ProcessRole.RUNTIME)
                    .findFirst()
                    .ifPresent(info -> space.ask(info.ref().pid()));
            limits = processes.stream()
                    .filter(info -> !info.limits().isEmpty())
                    .collect(Collectors.toMap(info -> info.ref().identity(), ProcessInfo::limits));
        }
        Map<String, List<Limit>> newest = limits;
        return processes.stream()
                .map(info -> {
                    List<Limit> all =
                            new ArrayList<>(newest.getOrDefault(info.ref().identity(), List.of()));
                    if (info.role() == ProcessRole.RUNTIME) {
                        all.addAll(space.newest());
                    }
                    return info.limits().equals(all) ? info : info.at(List.copyOf(all));
                })
                .toList();
    }

    /**
     * Whether this process, and not a later one with the same pid, still lives and still runs the same command: a
     * {@code runc init} becomes the container's own program. Also false for a process in state D that had arguments: reading
     * them could hang, and signals have no effect on it. Blocks briefly.
     */
    public boolean lives(ProcessRef process) {
        return files.stat(process.pid())
                .filter(stat -> stat.startTicks() == process.startTicks() && runs(stat, process.command()))
                .isPresent();
    }

    /** The kernel's letter for the state of exactly this process; empty if it is gone. Blocks briefly. */
    public Optional<Character> state(ProcessRef process) {
        return files.stat(process.pid())
                .filter(stat -> stat.startTicks() == process.startTicks())
                .map(ProcFiles.Stat::state);
    }

    /** The text of a kernel's file, such as that of a cgroup; empty if it cannot be read. Blocks briefly. */
    public Optional<String> read(Path file) {
        return files.read(file);
    }

    private boolean runs(ProcFiles.Stat stat, String command) {
        // The name in brackets stands for arguments that do not exist or that a scan could not read.
        return command.equals(CommandLines.nameOf(stat))
                || stat.state() != 'D' && command.equals(CommandLines.line(files.arguments(stat.pid())));
    }
}
