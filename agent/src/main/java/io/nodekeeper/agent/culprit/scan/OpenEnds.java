package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.OpenFileIndex;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.culprit.scan.proc.ScanBudget;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Which processes hold which ends of the machine's pipes and sockets, for one scan; searched when the first question is asked. A
 * program that waits for the end of another's output waits until every process that has the pipe open for writing closes it. Not
 * thread-safe.
 */
final class OpenEnds {
    /** The first file of a process that is neither its input nor its output. */
    private static final int FIRST_OWN = 3;

    private record End(int pid, int access) {}

    private final ProcFiles files;
    private final Map<Integer, ProcFiles.Stat> stats;
    private final OpenFileIndex index;
    private final ScanBudget budget;
    private final long startedAt;
    /** At most one entry for each file of the index, and one for each FIFO of a question. */
    private final Map<String, Set<End>> ends = new HashMap<>();

    /** The processes of each FUSE connection; at most as many as the index has. */
    private final Map<String, Set<Integer>> servers = new HashMap<>();

    private boolean read;

    /** Questions about the processes {@code stats}. */
    OpenEnds(ProcFiles files, Map<Integer, ProcFiles.Stat> stats, OpenFileIndex index, ScanBudget budget) {
        this.files = files;
        this.stats = stats;
        this.index = index;
        this.budget = budget;
        this.startedAt = budget.now();
    }

    /** The other processes that hold the end opposite to {@code file}. */
    List<Integer> opposite(int pid, ProcFiles.OpenFile file) {
        if (!OpenFileIndex.isPipe(file.path()) && !ends.containsKey(file.path())) {
            // A FIFO has a path like any file.
            ends.put(file.path(), fifo(file.path()));
        }
        Set<Integer> others = new TreeSet<>();
        for (End end : ends(file.path())) {
            if (end.pid != pid && (end.access == 2 || end.access != file.access())) {
                others.add(end.pid);
            }
        }
        return List.copyOf(others);
    }

    /** The processes that have a socket open, given as {@code socket:[INODE]}, in the order of their pids. */
    List<Integer> holders(String socket) {
        return ends(socket).stream().map(End::pid).distinct().sorted().toList();
    }

    /** The processes that have {@code /dev/fuse} open for a connection, in the order of their pids. */
    List<Integer> servers(String connection) {
        search();
        verify(servers.getOrDefault(connection, Set.of()));
        return servers.getOrDefault(connection, Set.of()).stream().sorted().toList();
    }

    /** The anonymous pipes from which a process can read, each once. */
    List<ProcFiles.OpenFile> readable(int pid) {
        Set<ProcFiles.OpenFile> pipes = new HashSet<>();
        for (Path link : files.openFiles(pid)) {
            if (budget.spend() && files.link(link).filter(OpenFileIndex::isPipe).isPresent()) {
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
                .filter(OpenFileIndex::isSocket)
                .distinct()
                .toList();
    }

    /** The processes that hold a pipe or socket now. */
    private Set<End> ends(String target) {
        if (OpenFileIndex.isPipe(target) || OpenFileIndex.isSocket(target)) {
            search();
            verify(ends.getOrDefault(target, Set.of()).stream().map(End::pid).collect(Collectors.toSet()));
        }
        return ends.getOrDefault(target, Set.of());
    }

    private void search() {
        if (read) {
            return;
        }
        read = true;
        if (!index.refresh(stats.values(), budget)) {
            budget.cut();
        }
        stats.values().forEach(this::add);
    }

    /** Reads these processes again unless this scan has done so: a holder may have closed its end since. */
    private void verify(Set<Integer> holders) {
        for (int pid : Set.copyOf(holders)) {
            ProcFiles.Stat stat = stats.get(pid);
            if (stat != null && index.isOlder(stat, startedAt)) {
                index.of(stat).forEach(open -> remove(pid, open));
                if (!index.read(stat, budget)) {
                    budget.cut();
                }
                add(stat);
            }
        }
    }

    private void add(ProcFiles.Stat stat) {
        for (OpenFileIndex.Open open : index.of(stat)) {
            ends.computeIfAbsent(open.target(), key -> new HashSet<>()).add(new End(stat.pid(), open.access()));
            if (!open.fuseConnection().isEmpty()) {
                servers.computeIfAbsent(open.fuseConnection(), key -> new HashSet<>())
                        .add(stat.pid());
            }
        }
    }

    private void remove(int pid, OpenFileIndex.Open open) {
        ends.getOrDefault(open.target(), new HashSet<>()).remove(new End(pid, open.access()));
        servers.getOrDefault(open.fuseConnection(), new HashSet<>()).remove(pid);
    }

    private Set<End> fifo(String path) {
        Set<End> found = new HashSet<>();
        for (int pid : stats.keySet()) {
            for (Path link : files.openFiles(pid)) {
                if (!budget.spendOnSearch()) {
                    budget.cut();
                    return found;
                }
                files.link(link)
                        .filter(path::equals)
                        .flatMap(target -> files.openFile(pid, number(link)))
                        .ifPresent(file -> found.add(new End(pid, file.access())));
            }
        }
        return found;
    }

    private static int number(Path link) {
        return Integer.parseInt(link.getFileName().toString());
    }
}
