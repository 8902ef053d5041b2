package io.nodekeeper.agent.pods.cgroups;

import io.nodekeeper.agent.kernel.KernelFile;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The mounted cgroup hierarchies: one in version 2, one for each group of controllers in version 1. A cgroup is a path such as
 * {@code /kubepods}, the same in all hierarchies. All methods block. Immutable.
 *
 * @param directory {@code /sys/fs/cgroup}, or a copy for tests
 * @param version 1 or 2
 */
record CgroupTree(Path directory, int version) implements Cgroups {
    /** The controllers of version 1 in whose hierarchies cgroups are made; runtimes make them in the others. */
    private static final List<String> USED = List.of("cpu", "cpuacct", "memory", "pids", "hugetlb");
    /** The controllers that are switched on for cgroups of pods in version 2. */
    private static final List<String> SWITCHED = List.of("cpuset", "cpu", "io", "memory", "hugetlb", "pids");
    /** The controllers without which limits mean nothing. */
    private static final List<String> NEEDED = List.of("cpu", "memory", "pids");
    /** The most cgroups below one: a pod has a few containers, which may have some of their own. */
    private static final int MOST_BELOW = 4_096;

    private static final String PROCESSES = "cgroup.procs";
    private static final String SWAP = "memory.swap.max";

    /** The hierarchies below {@code root}, which is {@code /} or a copy for tests. */
    static CgroupTree below(Path root) {
        Path directory = root.resolve("sys/fs/cgroup");
        return new CgroupTree(directory, Files.exists(directory.resolve("cgroup.controllers")) ? 2 : 1);
    }

    @Override
    public String place(String cgroup) {
        return cgroup;
    }

    @Override
    public void check() throws IOException {
        for (String controller : NEEDED) {
            boolean there = version == 2
                    ? words(directory.resolve("cgroup.controllers")).contains(controller)
                    : !hierarchies(List.of(controller)).isEmpty();
            if (!there) {
                throw new IOException("the cgroup controller " + controller + " is not available in " + directory);
            }
        }
    }

    @Override
    public boolean exists(String cgroup) throws IOException {
        for (Path hierarchy : made()) {
            if (!Files.isDirectory(place(hierarchy, cgroup))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void make(String cgroup) throws IOException {
        for (Path hierarchy : made()) {
            Path at = hierarchy;
            for (String name : cgroup.substring(1).split("/", -1)) {
                if (version == 2) {
                    switchOn(at);
                }
                at = at.resolve(name);
                if (!Files.isDirectory(at)) {
                    Files.createDirectory(at);
                }
            }
        }
    }

    @Override
    public void limit(String cgroup, CgroupLimits limits) throws IOException {
        List<IOException> errors = new ArrayList<>();
        boolean second = version == 2;
        long period = CpuAmounts.PERIOD;
        limits.shares().ifPresent(shares -> {
            String weight = Long.toString(second ? CpuAmounts.weight(shares) : shares);
            write("cpu", cgroup, second ? "cpu.weight" : "cpu.shares", weight, errors);
        });
        limits.quota().ifPresent(quota -> {
            if (second) {
                write("cpu", cgroup, "cpu.max", quota + " " + period, errors);
            } else {
                write("cpu", cgroup, "cpu.cfs_period_us", Long.toString(period), errors);
                write("cpu", cgroup, "cpu.cfs_quota_us", Long.toString(quota), errors);
            }
        });
        limits.memory().ifPresent(bytes -> {
            String file = second ? "memory.max" : "memory.limit_in_bytes";
            write("memory", cgroup, file, Long.toString(bytes), errors);
        });
        // A kernel without swap accounting does not have the file.
        if (limits.noSwap() && second && Files.exists(place(directory, cgroup).resolve(SWAP))) {
            write("memory", cgroup, SWAP, "0", errors);
        }
        limits.processes().ifPresent(most -> write("pids", cgroup, "pids.max", Long.toString(most), errors));
        limits.hugePages().ifPresent(bytes -> limitHugePages(cgroup, bytes, errors));
        if (!errors.isEmpty()) {
            throw errors.getFirst();
        }
    }

    private void limitHugePages(String cgroup, Map<String, Long> bytes, List<IOException> errors) {
        try {
            for (Path hierarchy : hierarchies(List.of("hugetlb"))) {
                for (Path file : children(place(hierarchy, cgroup))) {
                    String name = file.getFileName().toString();
                    if (name.matches("hugetlb\\.[0-9]+[KMGT]B\\.(rsvd\\.)?(limit_in_bytes|max)")) {
                        long limit = bytes.getOrDefault(name.split("\\.", -1)[1], 0L);
                        write("hugetlb", cgroup, name, Long.toString(limit), errors);
                    }
                }
            }
        } catch (IOException e) {
            errors.add(e);
        }
    }

    @Override
    public Set<String> names(String cgroup, String prefix) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        for (Path hierarchy : all()) {
            for (Path child : children(place(hierarchy, cgroup))) {
                String name = child.getFileName().toString();
                if (name.startsWith(prefix) && Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                    names.add(name);
                }
            }
        }
        return names;
    }

    @Override
    public void remove(String cgroup) throws IOException {
        int left = kill(cgroup);
        IOException error = null;
        for (Path hierarchy : all()) {
            for (Path directory : tree(place(hierarchy, cgroup)).reversed()) {
                try {
                    Files.deleteIfExists(directory);
                } catch (IOException e) {
                    error = e;
                }
            }
        }
        if (error != null) {
            throw new IOException(
                    "cgroup " + cgroup + " cannot be removed yet; " + left + " processes were in it: "
                            + error.getMessage(),
                    error);
        }
    }

    /** Kills all processes of {@code cgroup} and those below it, and answers how many; does not wait for their ends. */
    int kill(String cgroup) throws IOException {
        Set<Long> left = new LinkedHashSet<>();
        for (Path hierarchy : all()) {
            for (Path directory : tree(place(hierarchy, cgroup))) {
                left.addAll(processes(directory));
            }
        }
        if (version == 2
                && !left.isEmpty()
                && Files.exists(place(directory, cgroup).resolve("cgroup.kill"))) {
            write(place(directory, cgroup).resolve("cgroup.kill"), "1");
        } else {
            left.remove(ProcessHandle.current().pid());
            left.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
        }
        return left.size();
    }

    /** {@code top} and what is below it, parents first; nothing if it does not exist. */
    private static List<Path> tree(Path top) throws IOException {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(top, LinkOption.NOFOLLOW_LINKS)) {
            found.add(top);
        }
        for (int i = 0; i < found.size(); i++) {
            for (Path child : children(found.get(i))) {
                if (Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                    found.add(child);
                }
            }
            if (found.size() > MOST_BELOW) {
                throw new IOException(top + " has more than " + MOST_BELOW + " cgroups below it, which is the limit");
            }
        }
        return found;
    }

    private static Set<Long> processes(Path directory) throws IOException {
        Set<Long> pids = new LinkedHashSet<>();
        Path file = directory.resolve(PROCESSES);
        if (Files.exists(file)) {
            // 0 is a process that this one does not see.
            KernelFile.lines(file).stream()
                    .map(Long::parseLong)
                    .filter(pid -> pid > 0)
                    .forEach(pids::add);
        }
        return pids;
    }

    private void switchOn(Path cgroup) throws IOException {
        Path file = cgroup.resolve("cgroup.subtree_control");
        Set<String> available = words(cgroup.resolve("cgroup.controllers"));
        Set<String> on = words(file);
        for (String controller : SWITCHED) {
            if (available.contains(controller) && !on.contains(controller)) {
                write(file, "+" + controller);
            }
        }
    }

    private static Set<String> words(Path file) throws IOException {
        return Files.exists(file)
                ? new LinkedHashSet<>(List.of(KernelFile.text(file).strip().split("\\s+")))
                : Set.of();
    }

    private void write(String controller, String cgroup, String file, String text, List<IOException> errors) {
        try {
            for (Path hierarchy : hierarchies(List.of(controller))) {
                write(place(hierarchy, cgroup).resolve(file), text);
            }
        } catch (IOException e) {
            errors.add(e);
        }
    }

    private static void write(Path file, String text) throws IOException {
        try (FileOutputStream out = new FileOutputStream(file.toFile())) {
            out.write(text.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new IOException("cannot write " + text + " to " + file + ": " + e.getMessage(), e);
        }
    }

    private static Path place(Path hierarchy, String cgroup) {
        return hierarchy.resolve(cgroup.substring(1));
    }

    private List<Path> made() throws IOException {
        return hierarchies(USED);
    }

    /** The hierarchies that have one of {@code controllers}. A hierarchy may be mounted under several names by links. */
    private List<Path> hierarchies(List<String> controllers) throws IOException {
        if (version == 2) {
            return List.of(directory);
        }
        return all().stream()
                .filter(hierarchy -> List.of(hierarchy.getFileName().toString().split(",")).stream()
                        .anyMatch(controllers::contains))
                .toList();
    }

    private List<Path> all() throws IOException {
        if (version == 2) {
            return List.of(directory);
        }
        // systemd leaves an empty directory for a controller that belongs to version 2.
        return children(directory).stream()
                .filter(child -> Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS))
                .filter(child -> Files.exists(child.resolve(PROCESSES)))
                .toList();
    }

    /** What is in {@code directory}; nothing if it does not exist. */
    private static List<Path> children(Path directory) throws IOException {
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
            stream.forEach(children::add);
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return children;
    }
}
