package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.culprit.scan.proc.ScanBudget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The file locks of the machine, from {@code /proc/locks}: who waits, and who holds. The kernel names the process that
 * took a lock; that process may have ended while a child still holds the lock's open file, and for locks of open file
 * descriptions the kernel names no process (pid -1). Then the open files of all processes are searched for the lock. Not
 * thread-safe.
 */
final class FileLocks {
    /** A line: {@code ID: [->] KIND ADVISORY WRITE PID MAJOR:MINOR:INODE START END}. */
    private record Line(String id, boolean blocked, String kind, int pid, String inode) {}

    private final ProcFiles files;
    private final Set<Integer> pids;
    private final ScanBudget budget;
    private final Map<String, Line> held = new HashMap<>();
    private boolean read;
    private final List<Line> blocked = new ArrayList<>();
    private final Map<String, List<Integer>> found = new HashMap<>();

    FileLocks(ProcFiles files, Set<Integer> pids, ScanBudget budget) {
        this.files = files;
        this.pids = pids;
        this.budget = budget;
    }

    /** Reads the locks when the first question is asked. */
    private void read() {
        if (read) {
            return;
        }
        read = true;
        files.read(files.root().resolve("proc/locks")).stream()
                .flatMap(String::lines)
                .flatMap(line -> parse(line).stream())
                .forEach(line -> {
                    if (line.blocked) {
                        blocked.add(line);
                    } else {
                        held.putIfAbsent(line.id, line);
                    }
                });
    }

    /** The locks that a process waits for; {@code file} is a file on whose lock one of its threads waits, if known. */
    List<Wait.ForLock> of(int pid, Optional<ProcFiles.OpenFile> file) {
        read();
        Set<Wait.ForLock> waits = new LinkedHashSet<>();
        for (Line line : blocked) {
            boolean own = line.pid == pid
                    || line.pid <= 0
                            && file.filter(open -> open.inode().equals(inode(line)))
                                    .isPresent();
            Line holder = held.get(line.id);
            if (own && holder != null) {
                String path = file.filter(open -> open.inode().equals(inode(line)))
                        .map(ProcFiles.OpenFile::path)
                        .orElseGet(() -> "device and inode " + line.inode);
                waits.add(new Wait.ForLock(path, line.kind, holders(holder, path, pid)));
            }
        }
        return List.copyOf(waits);
    }

    private List<Integer> holders(Line lock, String path, int waiter) {
        // The process that took the lock may have closed the file, but its lock of kind FLOCK lives on in a child.
        if (lock.pid > 0 && pids.contains(lock.pid) && (!lock.kind.equals("FLOCK") || holds(lock.pid, lock, path))) {
            return List.of(lock.pid);
        }
        return found.computeIfAbsent(
                lock.id,
                id -> pids.stream()
                        .filter(pid -> pid != waiter && holds(pid, lock, path))
                        .sorted()
                        .toList());
    }

    private boolean holds(int pid, Line lock, String path) {
        String name = path.startsWith("/") ? path.substring(path.lastIndexOf('/')) : "";
        for (Path link : files.openFiles(pid)) {
            if (!budget.spend()) {
                return false;
            }
            if (files.link(link).filter(target -> target.endsWith(name)).isPresent()
                    && files.read(files.process(pid)
                                    .resolve("fdinfo")
                                    .resolve(link.getFileName().toString()))
                            .filter(info ->
                                    info.lines().anyMatch(line -> line.startsWith("lock:") && shows(line, lock)))
                            .isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** By whole words: another lock's inode may begin with this one's. */
    private static boolean shows(String line, Line lock) {
        return List.of(line.split("\\s+")).containsAll(List.of(lock.kind, lock.inode));
    }

    private static String inode(Line line) {
        return line.inode.substring(line.inode.lastIndexOf(':') + 1);
    }

    private static Optional<Line> parse(String text) {
        String[] words = text.strip().split("\\s+");
        boolean blocked = words.length > 1 && words[1].equals("->");
        int at = blocked ? 2 : 1;
        if (words.length < at + 5 || !words[at + 3].matches("-?\\d{1,9}") || words[at + 4].split(":").length != 3) {
            return Optional.empty();
        }
        return Optional.of(new Line(words[0], blocked, words[at], Integer.parseInt(words[at + 3]), words[at + 4]));
    }
}
