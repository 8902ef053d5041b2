package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.kernel.MountTable;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/**
 * How full the file systems are on which the runtime has files open. The question can hang like the file system; so it
 * is asked on a worker, by at most one at a time, and the newest answer is used. Thread-safe.
 */
final class RuntimeSpace {
    /** A healthy file system answers in microseconds. */
    private static final Duration DEADLINE = Duration.ofSeconds(2);
    /** The most file systems that are asked: a runtime has one for images and one for its state. */
    private static final int FILESYSTEMS = 4;
    /** Below this many bytes and inodes, metadata cannot be written reliably. */
    private static final long FEW_BYTES = 1 << 20;

    private static final long FEW_INODES = 8;
    /**
     * The questions that one search of the runtime's open files serves: it reads more than a thousand links on a node with 100
     * pods, and the file systems stay the same. While nothing is late, that is 2 min.
     */
    private static final int SEARCH_EVERY = 8;

    private final ProcFiles files;
    private final Workers workers;
    private final Space space;
    private final AtomicBoolean asking = new AtomicBoolean();
    private volatile List<Limit> newest = List.of();
    // Used by one question at a time: the newest search, and how many questions it has served.
    private Set<String> points = Set.of();
    private int searched;
    private int served;

    /** Asks for the space of a file system; may block as long as the file system hangs. */
    @FunctionalInterface
    interface Space {
        /** The space at {@code point}. */
        Filesystem of(Path point) throws IOException;
    }

    RuntimeSpace(ProcFiles files, Workers workers, Space space) {
        this.files = files;
        this.workers = workers;
        this.space = space;
    }

    /** The file systems that were full when they were last asked. */
    List<Limit> newest() {
        return newest;
    }

    /** Asks again, unless an earlier question is still open; completes with the newest answer. */
    CompletableFuture<List<Limit>> ask(int runtime) {
        if (asking.get()) {
            return CompletableFuture.completedFuture(newest);
        }
        return workers.call("the space of the runtime's file systems", DEADLINE, () -> {
            // Here, because a call that finds no worker never begins.
            if (!asking.compareAndSet(false, true)) {
                return newest;
            }
            try {
                newest = full(runtime);
                return newest;
            } finally {
                asking.set(false);
            }
        });
    }

    private List<Limit> full(int runtime) throws IOException {
        if (searched != runtime || served >= SEARCH_EVERY) {
            points = points(runtime);
            searched = runtime;
            served = 0;
        }
        int now = served + 1;
        // After a question that fails the search is repeated: a file system may be gone.
        served = SEARCH_EVERY;
        List<Limit> limits = new ArrayList<>();
        for (String point : points) {
            Filesystem found = space.of(Path.of(point));
            if (found.bytes().capacity() > 0 && found.bytes().available() < FEW_BYTES) {
                limits.add(limit(Limit.Kind.DISK_SPACE, point, found.bytes()));
            }
            if (found.inodes().capacity() > 0 && found.inodes().available() < FEW_INODES) {
                limits.add(limit(Limit.Kind.INODES, point, found.inodes()));
            }
        }
        served = now;
        return List.copyOf(limits);
    }

    /** Where the file systems are mounted on which the runtime has files open. */
    private Set<String> points(int runtime) {
        MountTable mounts = files.mounts(runtime);
        Set<String> directories = new LinkedHashSet<>();
        for (Path link : files.openFiles(runtime)) {
            files.link(link)
                    .filter(path -> path.startsWith("/") && !path.endsWith("(deleted)"))
                    // A runtime with many pods has many files in few directories.
                    .ifPresent(path -> directories.add(path.substring(0, Math.max(1, path.lastIndexOf('/')))));
        }
        Set<String> found = new LinkedHashSet<>();
        for (String directory : directories) {
            mounts.of(directory)
                    .filter(mount -> ProcFiles.isPath(mount.point()))
                    .filter(mount -> StallFiles.onDevice(mount) || mount.type().equals("tmpfs"))
                    .ifPresent(mount -> found.add(mount.point()));
        }
        return found.stream().limit(FILESYSTEMS).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static Limit limit(Limit.Kind kind, String point, Level level) {
        return new Limit(kind, point, level.capacity() - level.available(), level.capacity());
    }
}
