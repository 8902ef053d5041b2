package io.nodekeeper.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** What remains of a killed container runtime, found by its directory and the name of its control groups. */
public final class Leftovers {
    private static final Path CGROUPS = Path.of("/sys/fs/cgroup");

    private final Path directory;
    private final String name;

    Leftovers(Path directory, String name) {
        this.directory = directory;
        this.name = name;
    }

    /**
     * The runtime, its shims, their containers, and helpers that hang: processes with the directory in their command line
     * or in the control groups, and all their children. Programs in Java are spared: ours get the socket as an argument.
     */
    Set<Long> processes() {
        Set<Long> found = new TreeSet<>();
        ProcessHandle.allProcesses().filter(this::ours).forEach(process -> {
            found.add(process.pid());
            process.descendants().map(ProcessHandle::pid).forEach(found::add);
        });
        found.remove(ProcessHandle.current().pid());
        return found;
    }

    /** Ends all of them. */
    void kill() throws InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        for (Set<Long> left = processes(); !left.isEmpty(); left = processes()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("processes below " + directory + " cannot be killed: " + left);
            }
            left.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
            Thread.sleep(20);
        }
    }

    /** Mounts below the directory, the last one first. */
    List<String> mounts() throws IOException {
        List<String> mounts = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("/proc/self/mountinfo"))) {
            String point = line.split(" ")[4];
            if (point.startsWith(directory + "/")) {
                mounts.addFirst(point);
            }
        }
        return mounts;
    }

    /** Unmounts them but for {@code kept}. */
    void unmount(Path kept) throws IOException, InterruptedException {
        for (String point : mounts()) {
            if (!point.equals(kept.toString())) {
                Command.ok("umount", "-l", point);
            }
        }
    }

    /** Removes the control groups of the containers: those of that name, and those in the runtime's own place by id. */
    void removeCgroups(Set<String> ids) throws IOException {
        for (Path hierarchy : children(CGROUPS)) {
            for (Path base : List.of(hierarchy, CGROUPS)) {
                removeTree(base.resolve(name));
                for (String id : ids) {
                    removeTree(base.resolve("k8s.io").resolve(id));
                }
            }
        }
    }

    /** Where the control groups of this machine are: one directory in version 2, one for each group of controllers in version 1. */
    static List<Path> hierarchies() throws IOException {
        if (Files.exists(CGROUPS.resolve("cgroup.controllers"))) {
            return List.of(CGROUPS);
        }
        return children(CGROUPS).stream()
                .filter(child -> Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS))
                .toList();
    }

    private static void removeTree(Path group) throws IOException {
        if (!Files.isDirectory(group)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(group)) {
            for (Path path : tree.filter(Files::isDirectory)
                    .sorted(Comparator.reverseOrder())
                    .toList()) {
                Files.deleteIfExists(path);
            }
        }
    }

    /** The files and directories in {@code parent}; none if it does not exist. */
    public static List<Path> children(Path parent) throws IOException {
        if (!Files.isDirectory(parent)) {
            return List.of();
        }
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(parent)) {
            stream.forEach(children::add);
        }
        return children;
    }

    private boolean ours(ProcessHandle process) {
        Path proc = Path.of("/proc", Long.toString(process.pid()));
        try {
            if (process.info().command().orElse("").endsWith("/java")) {
                return false;
            }
            String command = Files.readString(proc.resolve("cmdline"), StandardCharsets.ISO_8859_1);
            // A process without a command line has ended and waits to be reaped, or is the kernel's.
            return command.contains(directory + "/")
                    || !command.isEmpty()
                            && Files.readString(proc.resolve("cgroup"), StandardCharsets.ISO_8859_1)
                                    .contains("/" + name + "/");
        } catch (IOException e) {
            // It has ended meanwhile.
            return false;
        }
    }
}
