package io.nodekeeper.agent.culprit.scan;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Reads for what processes wait, for one scan: tracers, freezers, file locks, pipes and file systems with a server
 * process. Reads no file but those of {@code /proc} and of the cgroups. Not thread-safe.
 */
final class WaitFiles {
    /** The most threads that are examined per process: a runtime has 10 to 40. */
    private static final int THREADS = 128;
    /** The same for a container: its first threads usually do the work that others wait for. */
    private static final int CONTAINER_THREADS = 4;

    private final ProcFiles files;
    private final FreezerFiles freezers;
    private final FileLocks locks;
    private final PipeEnds pipes;
    private final FuseServers servers;
    private final ScanBudget budget;

    /** {@code pids} are all processes of the machine. */
    WaitFiles(ProcFiles files, Set<Integer> pids, ScanBudget budget) {
        this.files = files;
        this.budget = budget;
        this.freezers = new FreezerFiles(files);
        this.locks = new FileLocks(files, pids, budget);
        this.pipes = new PipeEnds(files, pids, budget);
        this.servers = new FuseServers(files, pids, budget);
    }

    /** What a process waits for. A tracer or freezer excludes all else: until it lets go, nothing else matters. */
    List<Wait> of(ProcFiles.Stat stat, ProcessRole role) {
        int pid = stat.pid();
        if (!budget.spend()) {
            return List.of();
        }
        Optional<Wait> held = freezers.of(pid).<Wait>map(wait -> wait).or(() -> tracer(stat));
        if (held.isPresent()) {
            return List.of(held.get());
        }
        Set<Wait> waits = new LinkedHashSet<>();
        Optional<ProcFiles.OpenFile> locked = Optional.empty();
        boolean inContainer = role == ProcessRole.CONTAINER;
        List<Integer> threads = files.threads(pid);
        int most = Math.min(inContainer ? CONTAINER_THREADS : THREADS, threads.size());
        for (int thread : threads.subList(0, most)) {
            String where = budget.spend()
                    ? files.read(files.thread(pid, thread).resolve("wchan")).orElse("")
                    : "";
            if (isLock(where)) {
                locked = locked.or(() -> file(pid, thread));
            } else if (where.contains("pipe_read") || where.contains("pipe_write")) {
                file(pid, thread)
                        .map(file -> new Wait.ForPipe(file.path(), true, pipes.opposite(pid, file)))
                        .filter(wait -> !wait.holders().isEmpty())
                        .ifPresent(waits::add);
            } else if (where.contains("fuse") || where.equals("request_wait_answer")) {
                servers.of(pid, file(pid, thread)).ifPresent(waits::add);
            }
        }
        waits.addAll(locks.of(pid, locked));
        // The others start programs and read their output.
        if (!inContainer && role != ProcessRole.OUTSIDER) {
            waits.addAll(output(pid));
        }
        return List.copyOf(waits);
    }

    /** Whether a process can read from a pipe into which {@code writer} can write. */
    boolean reads(int pid, int writer) {
        return pipes.readable(pid).stream()
                .anyMatch(pipe -> pipes.opposite(pid, pipe).contains(writer));
    }

    private List<Wait> output(int pid) {
        List<Wait> waits = new ArrayList<>();
        for (ProcFiles.OpenFile pipe : pipes.readable(pid)) {
            List<Integer> writers = pipes.opposite(pid, pipe);
            if (!writers.isEmpty()) {
                waits.add(new Wait.ForPipe(pipe.path(), false, writers));
            }
        }
        return waits;
    }

    private Optional<Wait> tracer(ProcFiles.Stat stat) {
        return stat.state() == 't'
                ? files.read(files.process(stat.pid()).resolve("status"))
                        .map(text -> ProcFiles.field(text, "TracerPid:"))
                        .filter(text -> text.matches("[1-9]\\d{0,8}"))
                        .map(text -> new Wait.Traced(Integer.parseInt(text)))
                : Optional.empty();
    }

    /** The file of a thread's system call. Format: its number, then its arguments in hexadecimal; the first is the file. */
    private Optional<ProcFiles.OpenFile> file(int pid, int thread) {
        return files.read(files.thread(pid, thread).resolve("syscall"))
                .map(text -> text.strip().split(" "))
                .filter(words -> words.length > 2 && words[1].matches("0x[0-9a-f]{1,5}"))
                .flatMap(words -> files.openFile(pid, Integer.parseInt(words[1].substring(2), 16)));
    }

    private static boolean isLock(String where) {
        return where.contains("lock_inode_wait") || where.equals("fcntl_setlk") || where.equals("do_lock_file_wait");
    }
}
