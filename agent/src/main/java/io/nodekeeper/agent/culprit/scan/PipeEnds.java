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
 * Which processes hold which ends of the machine's pipes; read when the first question is asked. A program that waits
 * for the end of another's output waits until every process that has the pipe open for writing closes it. Not
 * thread-safe.
 */
final class PipeEnds {
    private record End(int pid, int access) {}

    private final ProcFiles files;
    private final Set<Integer> pids;
    private final ScanBudget budget;
    private final Map<String, Set<End>> ends = new HashMap<>();
    private boolean read;

    PipeEnds(ProcFiles files, Set<Integer> pids, ScanBudget budget) {
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

    /** The anonymous pipes from which a process can read, each once. */
    List<ProcFiles.OpenFile> readable(int pid) {
        Set<ProcFiles.OpenFile> pipes = new HashSet<>();
        for (Path link : files.openFiles(pid)) {
            if (budget.spend() && files.link(link).filter(PipeEnds::isPipe).isPresent()) {
                files.openFile(pid, Integer.parseInt(link.getFileName().toString()))
                        .filter(file -> file.access() == 0)
                        .ifPresent(pipes::add);
            }
        }
        return List.copyOf(pipes);
    }

    static boolean isPipe(String target) {
        return target.startsWith("pipe:[");
    }

    private void readAll() {
        if (read) {
            return;
        }
        read = true;
        search(PipeEnds::isPipe);
    }

    private void search(Predicate<String> wanted) {
        for (int pid : pids) {
            for (Path link : files.openFiles(pid)) {
                if (!budget.spend()) {
                    return;
                }
                files.link(link)
                        .filter(wanted)
                        .flatMap(target -> files.openFile(
                                pid, Integer.parseInt(link.getFileName().toString())))
                        .ifPresent(file -> ends.computeIfAbsent(file.path(), key -> new HashSet<>())
                                .add(new End(pid, file.access())));
            }
        }
    }
}
