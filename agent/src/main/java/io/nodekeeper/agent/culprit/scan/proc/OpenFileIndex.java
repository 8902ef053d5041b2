package io.nodekeeper.agent.culprit.scan.proc;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The open files that connect processes with each other, of all processes of the machine: anonymous pipes, sockets, and
 * connections of FUSE.
 *
 * <p>A machine can have more open files than one scan may read. So the index outlives a scan: each scan reads the processes that
 * are not in it, first those that were read longest ago, as far as its budget goes. What was read less than {@link #FRESH} ago
 * counts: a command is accused by its age after 8 s, so its wait is older than that. A caller that uses an answer that is older
 * than the scan reads those files again. Not thread-safe.
 */
public final class OpenFileIndex {
    /** Three pauses between deep scans; and less than the age from which a command is late. */
    public static final Duration FRESH = Duration.ofMillis(4_500);
    /** The most files that are kept, some 100 bytes each: about what scans can read within {@link #FRESH}. */
    private static final int MOST = 65_536;

    /**
     * An open file. Immutable.
     *
     * @param target {@code pipe:[INODE]}, {@code socket:[INODE]}, or the path of {@code /dev/fuse}
     * @param access 0 for reading, 1 for writing, 2 for both; 2 for each socket
     * @param fuseConnection the number of the connection; empty for other files
     */
    public record Open(String target, int access, String fuseConnection) {}

    /** What a process had open at a time, monotonic ns; {@code current} is false once that is too old. */
    private record Known(long startTicks, long readAt, boolean current, List<Open> open) {}

    private final ProcFiles files;
    private final Map<Integer, Known> known = new HashMap<>();
    private int size;

    public OpenFileIndex(ProcFiles files) {
        this.files = files;
    }

    /** Forgets what is too old to be used, which is all of it once scans no longer search. */
    public void forgetOld(long now) {
        known.replaceAll((pid, process) -> !process.current || now - process.readAt < FRESH.toNanos()
                ? process
                : new Known(process.startTicks, process.readAt, false, List.of()));
        count();
    }

    /**
     * Reads the processes of which nothing current is known.
     *
     * @param processes all processes of the machine
     * @return whether something current is known of each
     */
    public boolean refresh(Collection<ProcFiles.Stat> processes, ScanBudget budget) {
        Set<Integer> pids = processes.stream().map(ProcFiles.Stat::pid).collect(Collectors.toSet());
        known.keySet().retainAll(pids);
        count();
        List<ProcFiles.Stat> missing = processes.stream()
                .filter(stat -> current(stat).isEmpty())
                .sorted(Comparator.comparingLong(this::lastRead))
                .toList();
        for (ProcFiles.Stat stat : missing) {
            if (size >= MOST || !read(stat, budget)) {
                return false;
            }
        }
        return true;
    }

    /** What the process has open, as it is known. */
    public List<Open> of(ProcFiles.Stat stat) {
        return current(stat).map(Known::open).orElse(List.of());
    }

    /** Whether this was read before {@code time}. */
    public boolean isOlder(ProcFiles.Stat stat, long time) {
        return current(stat).filter(process -> process.readAt - time < 0).isPresent();
    }

    /** Reads one process; false if the budget does not suffice. */
    public boolean read(ProcFiles.Stat stat, ScanBudget budget) {
        long now = budget.now();
        List<Open> open = new ArrayList<>();
        for (Path link : files.openFiles(stat.pid())) {
            if (!budget.spendOnSearch()) {
                return false;
            }
            files.link(link)
                    .filter(OpenFileIndex::connects)
                    .map(target -> open(stat.pid(), link, target))
                    .ifPresent(open::add);
        }
        Known before = known.put(stat.pid(), new Known(stat.startTicks(), now, true, List.copyOf(open)));
        size += open.size() - (before == null ? 0 : before.open.size());
        return true;
    }

    private Open open(int pid, Path link, String target) {
        if (isSocket(target)) {
            return new Open(target, 2, "");
        }
        Optional<ProcFiles.OpenFile> file =
                files.openFile(pid, Integer.parseInt(link.getFileName().toString()));
        return new Open(
                target,
                file.map(ProcFiles.OpenFile::access).orElse(0),
                isPipe(target)
                        ? ""
                        : file.map(ProcFiles.OpenFile::fuseConnection).orElse(""));
    }

    public static boolean isPipe(String target) {
        return target.startsWith("pipe:[");
    }

    public static boolean isSocket(String target) {
        return target.startsWith("socket:[");
    }

    private static boolean connects(String target) {
        return isPipe(target) || isSocket(target) || target.endsWith("/fuse");
    }

    private Optional<Known> current(ProcFiles.Stat stat) {
        return Optional.ofNullable(known.get(stat.pid()))
                .filter(process -> process.current && process.startTicks == stat.startTicks());
    }

    /** Processes that were never read come first. */
    private long lastRead(ProcFiles.Stat stat) {
        Known process = known.get(stat.pid());
        return process == null || process.startTicks != stat.startTicks() ? Long.MIN_VALUE : process.readAt;
    }

    private void count() {
        size = known.values().stream().mapToInt(process -> process.open.size()).sum();
    }
}
