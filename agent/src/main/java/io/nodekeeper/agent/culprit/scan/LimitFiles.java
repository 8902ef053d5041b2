package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Reads which limits a process has reached: open files, processes of its cgroups, memory.high. Immutable. */
record LimitFiles(ProcFiles files) {
    /** The deepest cgroup that is followed upwards; those of pods are 3 to 6 deep. */
    private static final int DEEPEST = 16;
    /** The share of a limit, in percent, from which it counts as reached: what is left is needed for a moment. */
    private static final int REACHED = 95;

    private static final String FILES_LINE = "Max open files";

    /** The limits that it has reached. */
    List<Limit> of(int pid) {
        List<Limit> limits = new ArrayList<>();
        openFiles(pid).ifPresent(limits::add);
        for (ProcFiles.Cgroup cgroup : files.cgroups(pid)) {
            if (cgroup.isUnified()) {
                Stream.of("sys/fs/cgroup", "sys/fs/cgroup/unified").forEach(base -> {
                    first(base, cgroup.path(), this::processes).ifPresent(limits::add);
                    first(base, cgroup.path(), this::memory).ifPresent(limits::add);
                });
            } else if (cgroup.controllers().contains("pids")) {
                first("sys/fs/cgroup/pids", cgroup.path(), this::processes).ifPresent(limits::add);
            }
        }
        return List.copyOf(limits);
    }

    private Optional<Limit> openFiles(int pid) {
        return files.read(files.process(pid).resolve("limits"))
                .map(text -> ProcFiles.field(text, FILES_LINE).split("\\s+")[0])
                .flatMap(LimitFiles::number)
                .flatMap(max -> {
                    long used = files.openCount(pid, max);
                    return reached(used, max)
                            ? Optional.of(new Limit(Limit.Kind.OPEN_FILES, "", used, max))
                            : Optional.empty();
                });
    }

    /** The first limit that is reached in the cgroup or one above it. */
    private Optional<Limit> first(String base, String path, Function<Path, Optional<Limit>> read) {
        Path root = files.root().resolve(base);
        Path at = files.root().resolve(base + path);
        for (int depth = 0; depth < DEEPEST && at != null && !at.equals(root); depth++) {
            Optional<Limit> limit = read.apply(at);
            if (limit.isPresent()) {
                return limit;
            }
            at = at.getParent();
        }
        return Optional.empty();
    }

    private Optional<Limit> processes(Path cgroup) {
        return number(cgroup, "pids.max")
                .flatMap(max -> number(cgroup, "pids.current")
                        // A new process of a multithreaded program needs several threads at once.
                        .filter(used -> used >= max || reached(used, max) && hits(cgroup, "pids.events", "max ") > 0)
                        .map(used -> new Limit(Limit.Kind.PROCESSES, shown(cgroup), used, max)));
    }

    private Optional<Limit> memory(Path cgroup) {
        return number(cgroup, "memory.high")
                .flatMap(max -> number(cgroup, "memory.current")
                        .filter(used -> reached(used, max) && hits(cgroup, "memory.events", "high ") > 0)
                        .map(used -> new Limit(Limit.Kind.MEMORY_HIGH, shown(cgroup), used, max)));
    }

    private static boolean reached(long used, long max) {
        return used >= max / 100 * REACHED + max % 100 * REACHED / 100;
    }

    private long hits(Path cgroup, String name, String line) {
        return files.read(cgroup.resolve(name))
                .map(text -> ProcFiles.field(text, line))
                .flatMap(LimitFiles::number)
                .orElse(0L);
    }

    private Optional<Long> number(Path cgroup, String name) {
        return files.read(cgroup.resolve(name)).flatMap(text -> number(text.strip()));
    }

    /** Empty for {@code max} and {@code unlimited}. */
    private static Optional<Long> number(String text) {
        return text.matches("\\d{1,18}") ? Optional.of(Long.parseLong(text)) : Optional.empty();
    }

    private String shown(Path directory) {
        return "/" + files.root().relativize(directory);
    }
}
