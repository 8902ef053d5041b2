package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads whether a process's cgroup is frozen. A process that the freezer of version 1 holds shows state D and the
 * kernel function in which it was; one that version 2 holds shows state S. Immutable.
 */
record FreezerFiles(ProcFiles files) {
    /** The deepest cgroup that is followed upwards; those of pods are 3 to 6 deep. */
    private static final int DEEPEST = 16;

    /** The freezer that holds the process. */
    Optional<Wait.Frozen> of(int pid) {
        return files.cgroups(pid).stream()
                .flatMap(cgroup -> cgroup.isUnified()
                        ? Stream.of("sys/fs/cgroup", "sys/fs/cgroup/unified")
                                .flatMap(base -> second(base, cgroup.path()))
                        : cgroup.controllers().contains("freezer")
                                ? first("sys/fs/cgroup/freezer", cgroup.path())
                                : Stream.empty())
                .findFirst();
    }

    private Stream<Wait.Frozen> first(String base, String path) {
        Path own = files.root().resolve(base + path);
        if (!text(own, "freezer.state").equals("FROZEN")) {
            return Stream.empty();
        }
        Path at = own;
        for (int depth = 0;
                depth < DEEPEST && !text(at, "freezer.self_freezing").equals("1");
                depth++) {
            Path above = above(at);
            if (!text(above, "freezer.state").equals("FROZEN")) {
                break;
            }
            at = above;
        }
        return Stream.of(new Wait.Frozen(shown(at), 1, !at.equals(own)));
    }

    private Stream<Wait.Frozen> second(String base, String path) {
        Path own = files.root().resolve(base + path);
        if (text(own, "cgroup.events").lines().noneMatch("frozen 1"::equals)) {
            return Stream.empty();
        }
        Path at = own;
        for (int depth = 0; depth < DEEPEST && !text(at, "cgroup.freeze").equals("1"); depth++) {
            at = above(at);
        }
        return Stream.of(new Wait.Frozen(shown(at), 2, !at.equals(own)));
    }

    /** The parent directory; the directory itself at the top. */
    private static Path above(Path directory) {
        Path parent = directory.getParent();
        return parent == null ? directory : parent;
    }

    private String shown(Path directory) {
        return "/" + files.root().relativize(directory);
    }

    private String text(Path directory, String name) {
        return files.read(directory.resolve(name)).orElse("").strip();
    }
}
