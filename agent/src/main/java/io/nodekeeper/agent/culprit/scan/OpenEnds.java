package io.nodekeeper.agent.culprit.scan;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Which processes hold which ends of the machine's pipes and sockets; read when the first question is asked. A program
 * that waits for the end of another's output waits until every process that has the pipe open for writing closes it.
 * Not thread-safe.
 */
final class OpenEnds {
    /** The first file of a process that is neither its input nor its output. */
    private static final int FIRST_OWN = 3;

    private record End(int pid, int access) {}

    private final ProcFiles files;
    private final Set<Integer> pids;
    private final ScanBudget budget;
    /** At most one entry for each file that the budget lets a scan read. */
    private final Map<String, Set<End>> ends = new HashMap<>();

    /** The processes of each FUSE connection; at most as many as the budget lets a scan read. */
    private final Map<String, Set<Integer>> servers = new HashMap<>();

    private boolean read;

    OpenEnds(ProcFiles files, Set<Integer> pids, ScanBudget budget) {
        this.files = files;
        this.pids = pids;
        this.budget = budget;
    }

    /** The other processes that hold the end opposite to {@code file}. */
    List<Integer> opposite(int pid, ProcFiles.OpenFile file) {
        if (isPipe(file.path())) {
            readAll();
        } else if (!ends.containsKey(file.path())) {
            // A FIFO has a path like any file.
            ends.put(file.path(), new HashSet<>());
            search(file.path()::equals);
        }
        Set<Integer> others = new TreeSet<>();
        for (End end : ends.getOrDefault(file.path(), Set.of())) {
            if (end.pid != pid && (end.access == 2 || end.access != file.access())) {
                others.add(end.pid);
            }
        }
        return List.copyOf(others);
    }

    /** The processes that have a socket open, given as {@code socket:[INODE]}, in the order of their pids. */
    List<Integer> holders(String socket) {
        readAll();
        return ends.getOrDefault(socket, Set.of()).stream()
                .map(End::pid)
                .distinct()
                .sorted()
                .toList();
    }

    /** The processes that have {@code /dev/fuse} open for a connection, in the order of their pids. */
    List<Integer> servers(String connection) {
        readAll();
        return servers.getOrDefault(connection, Set.of()).stream().sorted().toList();
    }

    /** The anonymous pipes from which a process can read, each once. */
    List<ProcFiles.OpenFile> readable(int pid) {
        Set<ProcFiles.OpenFile> pipes = new HashSet<>();
        for (Path link : files.openFiles(pid)) {
            if (budget.spend() && files.link(link).filter(OpenEnds::isPipe).isPresent()) {
                files.openFile(pid, number(link))
                        .filter(file -> file.access() == 0)
                        .ifPresent(pipes::add);
            }
        }
        return List.copyOf(pipes);
    }

    /** The sockets that a process has open, other than as its input and output. */
    List<String> sockets(int pid) {
        return files.openFiles(pid).stream()
                .filter(link -> number(link) >= FIRST_OWN && budget.spend())
                .flatMap(link -> files.link(link).stream())
                .filter(OpenEnds::isSocket)
                .distinct()
                .toList();
    }

    static boolean isPipe(String target) {
        return target.startsWith("pipe:[");
    }

    static boolean isSocket(String target) {
        return target.startsWith("socket:[");
    }

    private static boolean isFuse(String target) {
        return target.endsWith("/fuse");
    }

    private void readAll() {
        if (read) {
            return;
        }
        read = true;
        search(target -> isPipe(target) || isSocket(target) || isFuse(target));
    }

    private void search(Predicate<String> wanted) {
        for (int pid : pids) {
            for (Path link : files.openFiles(pid)) {
                if (!budget.spend()) {
                    return;
                }
                files.link(link).filter(wanted).ifPresent(target -> {
                    if (isFuse(target)) {
                        files.openFile(pid, number(link))
                                .map(ProcFiles.OpenFile::fuseConnection)
                                .filter(connection -> !connection.isEmpty())
                                .ifPresent(connection -> servers.computeIfAbsent(connection, key -> new HashSet<>())
                                        .add(pid));
                    }
                    // Both directions of a socket are one file.
                    int access = isSocket(target)
                            ? 2
                            : files.openFile(pid, number(link))
                                    .map(ProcFiles.OpenFile::access)
                                    .orElse(0);
                    ends.computeIfAbsent(target, key -> new HashSet<>()).add(new End(pid, access));
                });
            }
        }
    }

    private static int number(Path link) {
        return Integer.parseInt(link.getFileName().toString());
    }
}
