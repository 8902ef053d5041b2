package io.nodekeeper.agent.host;

import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.kernel.KernelFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Reads what the Linux kernel and the distribution report about the machine in files below a root directory. Blocks on
 * the disk. Immutable.
 *
 * @param root {@code /}, or a copy of the files for tests
 */
record LinuxFiles(Path root) {
    private static final long KIB = 1_024;
    /** Kubernetes reads a larger limit as none; version 1 writes 2^63 less a page for that. */
    private static final long UNLIMITED = 1L << 62;

    /** Logical processors. */
    int cores() throws IOException {
        long listed = KernelFile.lines(file("proc/cpuinfo")).stream()
                .filter(line -> line.startsWith("processor"))
                .count();
        if (listed == 0) {
            throw new IOException(file("proc/cpuinfo") + " lists no processor");
        }
        return (int) listed;
    }

    /** A field of {@code /proc/meminfo} in bytes. */
    long memory(String field) throws IOException {
        for (String line : KernelFile.lines(file("proc/meminfo"))) {
            if (line.startsWith(field + ":")) {
                return Long.parseLong(line.substring(field.length() + 1)
                                .replace("kB", "")
                                .strip())
                        * KIB;
            }
        }
        throw new IOException(file("proc/meminfo") + " has no field " + field);
    }

    /** Huge page size in bytes → pages reserved. */
    Map<Long, Long> hugePages() throws IOException {
        Path directory = file("sys/kernel/mm/hugepages");
        Map<Long, Long> pages = new TreeMap<>();
        if (!Files.isDirectory(directory)) {
            return pages;
        }
        try (Stream<Path> sizes = Files.list(directory)) {
            for (Path size : sizes.toList()) {
                String kib = size.getFileName().toString().replaceAll("\\D", "");
                pages.put(Long.parseLong(kib) * KIB, KernelFile.number(size.resolve("nr_hugepages")));
            }
        }
        return pages;
    }

    /** The first of the files that can be read, stripped; empty if there is none, as in many containers. */
    String first(String... paths) {
        for (String path : paths) {
            try {
                // The device tree ends its strings with a NUL.
                String text = KernelFile.text(file(path)).replace("\0", "").strip();
                if (!text.isEmpty()) {
                    return text;
                }
            } catch (IOException e) {
                // Not there, or this user may not read it: try the next one.
            }
        }
        return "";
    }

    /** The distribution's display name; Linux if it has none. */
    String osImage() {
        for (String path : List.of("etc/os-release", "usr/lib/os-release")) {
            Optional<String> name = first(path)
                    .lines()
                    .filter(line -> line.startsWith("PRETTY_NAME="))
                    .map(line -> line.substring("PRETTY_NAME=".length()).replaceAll("^[\"']|[\"']$", ""))
                    .findFirst();
            if (name.isPresent()) {
                return name.get();
            }
        }
        return "Linux";
    }

    /** Process ids: the kernel's limit, and how many of them all threads leave. */
    Level pids() throws IOException {
        long limit = Math.min(number("proc/sys/kernel/pid_max"), number("proc/sys/kernel/threads-max"));
        String[] load = KernelFile.text(file("proc/loadavg")).strip().split(" ");
        if (load.length < 4 || load[3].indexOf('/') < 0) {
            throw new IOException(file("proc/loadavg") + ": expected running/total as 4th field");
        }
        return new Level(limit - Long.parseLong(load[3].substring(load[3].indexOf('/') + 1)), limit);
    }

    /**
     * The working set of the root cgroup: memory in use less the file pages that the kernel would drop first, at least 0.
     */
    long workingSet() throws IOException {
        Path v2 = file("sys/fs/cgroup/cgroup.controllers");
        Path v1 = file("sys/fs/cgroup/memory/memory.usage_in_bytes");
        if (Files.exists(v2)) {
            Map<String, Long> stat = statistics(file("sys/fs/cgroup/memory.stat"));
            Path current = file("sys/fs/cgroup/memory.current");
            // The real root cgroup has no memory.current; the root that a container sees has one.
            long usage = Files.exists(current)
                    ? number("sys/fs/cgroup/memory.current")
                    : field(stat, "anon") + field(stat, "file");
            return Math.max(0, usage - field(stat, "inactive_file"));
        }
        if (Files.exists(v1)) {
            Map<String, Long> stat = statistics(file("sys/fs/cgroup/memory/memory.stat"));
            return Math.max(
                    0, number("sys/fs/cgroup/memory/memory.usage_in_bytes") - field(stat, "total_inactive_file"));
        }
        // Without a memory cgroup, the kernel's own estimate is the best available.
        return Math.max(0, memory("MemTotal") - memory("MemAvailable"));
    }

    /**
     * The memory of the cgroup of all pods: what its working set leaves of its limit, and the limit.
     *
     * @param podCgroups where it may be, such as {@code /kubepods.slice}; the first one that exists counts
     * @throws IOException if there is no such cgroup or it has no limit
     */
    Level podMemory(List<String> podCgroups) throws IOException {
        for (String place : podCgroups) {
            String cgroup = place.substring(1);
            Path v2 = file("sys/fs/cgroup/" + cgroup + "/memory.max");
            Path v1 = file("sys/fs/cgroup/memory/" + cgroup + "/memory.limit_in_bytes");
            if (Files.exists(v2)) {
                long used = KernelFile.number(v2.resolveSibling("memory.current"));
                return podMemory(v2, used, field(statistics(v2.resolveSibling("memory.stat")), "inactive_file"));
            }
            if (Files.exists(v1)) {
                long used = KernelFile.number(v1.resolveSibling("memory.usage_in_bytes"));
                return podMemory(v1, used, field(statistics(v1.resolveSibling("memory.stat")), "total_inactive_file"));
            }
        }
        throw new IOException("there is no pod cgroup: neither " + String.join(" nor ", podCgroups) + " exists below "
                + file("sys/fs/cgroup"));
    }

    private static Level podMemory(Path limitFile, long used, long inactive) throws IOException {
        String limit = KernelFile.text(limitFile).strip();
        if (limit.equals("max") || KernelFile.number(limitFile) > UNLIMITED) {
            throw new IOException(limitFile + ": expected a limit in bytes, got \"" + limit + "\"");
        }
        long bytes = Long.parseLong(limit);
        return new Level(Math.max(0, bytes - Math.max(0, used - inactive)), bytes);
    }

    /** The interface of the IPv4 default route with the lowest metric, or of an IPv6 one; empty if there is none. */
    Optional<String> defaultRouteInterface() {
        Optional<String> four = first("proc/net/route")
                .lines()
                .skip(1)
                .map(line -> line.strip().split("\\s+"))
                .filter(column -> column.length > 7 && column[1].equals("00000000") && column[7].equals("00000000"))
                .min((a, b) -> Long.compare(Long.parseLong(a[6]), Long.parseLong(b[6])))
                .map(column -> column[0]);
        return four.or(() -> first("proc/net/ipv6_route")
                .lines()
                .map(line -> line.strip().split("\\s+"))
                .filter(column -> column.length > 9
                        && column[0].equals("0".repeat(32))
                        && column[1].equals("00")
                        && !column[9].equals("lo"))
                .findFirst()
                .map(column -> column[9]));
    }

    private long number(String path) throws IOException {
        return KernelFile.number(file(path));
    }

    private static Map<String, Long> statistics(Path file) throws IOException {
        Map<String, Long> statistics = new TreeMap<>();
        for (String line : KernelFile.lines(file)) {
            String[] words = line.split(" ");
            if (words.length == 2 && words[1].matches("\\d{1,18}")) {
                statistics.put(words[0], Long.parseLong(words[1]));
            }
        }
        return statistics;
    }

    private static long field(Map<String, Long> statistics, String name) throws IOException {
        Long value = statistics.get(name);
        if (value == null) {
            throw new IOException("memory.stat has no field " + name);
        }
        return value;
    }

    private Path file(String path) {
        return root.resolve(path);
    }
}
