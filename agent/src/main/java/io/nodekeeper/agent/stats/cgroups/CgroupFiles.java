package io.nodekeeper.agent.stats.cgroups;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mounted cgroup file systems. Where both versions are mounted, the controllers belong to version 1, and so do the
 * numbers. Every file has at most {@link BoundedFile#LIMIT} bytes. All calls block. Immutable.
 *
 * @param directory {@code /sys/fs/cgroup}, or a copy for tests
 * @param version 1 or 2
 */
public record CgroupFiles(Path directory, int version) {
    private static final Logger log = LoggerFactory.getLogger(CgroupFiles.class);

    private static final List<String> RESOURCES = List.of("cpu", "memory", "io");
    /** Where distributions mount the controller of processor time in version 1. */
    private static final List<String> CPUACCT = List.of("cpuacct", "cpu,cpuacct");

    private static final long NANOS_IN_MICRO = 1_000;

    /** The cgroups below {@code root}, which is {@code /} or a copy for tests. */
    public static CgroupFiles below(Path root) {
        Path directory = root.resolve("sys/fs/cgroup");
        return new CgroupFiles(directory, Files.exists(directory.resolve("cgroup.controllers")) ? 2 : 1);
    }

    /** The directory that contains a directory for each cgroup. */
    public Path tree() {
        return version == 2 ? directory : cpuacct();
    }

    /** What {@code cgroup} uses; without a value for what has no file. */
    public CgroupUsage usage(CgroupPaths cgroup) throws IOException {
        return version == 2 ? usage2(place(directory, cgroup.unified())) : usage1(cgroup);
    }

    /**
     * By resource: how long tasks were stalled, by the files {@code cpu}, {@code memory} and {@code io} of {@code directory},
     * whose names end with {@code suffix}; empty if the kernel does not measure it. A kernel that could measure it, but was started
     * without {@code psi=1}, has the files and refuses to read them.
     */
    public static Map<String, StallTimes> stalls(Path directory, String suffix) {
        Map<String, StallTimes> stalls = new HashMap<>();
        for (String resource : RESOURCES) {
            try {
                StallTimes.parse(text(directory.resolve(resource + suffix)))
                        .ifPresent(times -> stalls.put(resource, times));
            } catch (IOException e) {
                log.debug("Stalled tasks are not known: {}", e.getMessage());
            }
        }
        return stalls;
    }

    private CgroupUsage usage2(Path cgroup) throws IOException {
        return new CgroupUsage(
                field(KernelNumbers.fields(text(cgroup.resolve("cpu.stat"))), "usage_usec", NANOS_IN_MICRO),
                MemoryUsage.version2(
                        number(cgroup.resolve("memory.current")),
                        KernelNumbers.fields(text(cgroup.resolve("memory.stat"))),
                        text(cgroup.resolve("memory.max"))),
                number(cgroup.resolve("memory.swap.current")),
                number(cgroup.resolve("pids.current")),
                stalls(cgroup, ".pressure"));
    }

    private CgroupUsage usage1(CgroupPaths cgroup) throws IOException {
        Path cpu = place(cpuacct(), Optional.ofNullable(cgroup.byController().get("cpuacct")));
        Path memory = place(
                directory.resolve("memory"),
                Optional.ofNullable(cgroup.byController().get("memory")));
        Path pids = place(
                directory.resolve("pids"),
                Optional.ofNullable(cgroup.byController().get("pids")));
        Map<String, Long> stat = KernelNumbers.fields(text(memory.resolve("memory.stat")));
        return new CgroupUsage(
                number(cpu.resolve("cpuacct.usage")),
                MemoryUsage.version1(
                        number(memory.resolve("memory.usage_in_bytes")),
                        stat,
                        text(memory.resolve("memory.limit_in_bytes"))),
                field(stat, "total_swap", 1),
                number(pids.resolve("pids.current")),
                Map.of());
    }

    private Path cpuacct() {
        return CPUACCT.stream()
                .map(directory::resolve)
                .filter(Files::isDirectory)
                .findFirst()
                .orElse(directory.resolve("cpuacct"));
    }

    /** A path that is not known names no directory. */
    private static Path place(Path root, Optional<String> path) {
        return path.map(known -> root.resolve(known.substring(1))).orElse(root.resolve("not known"));
    }

    private static OptionalLong field(Map<String, Long> fields, String name, long unit) {
        Long value = fields.get(name);
        return value == null ? OptionalLong.empty() : OptionalLong.of(value * unit);
    }

    private static OptionalLong number(Path file) throws IOException {
        return KernelNumbers.number(text(file));
    }

    private static String text(Path file) throws IOException {
        return BoundedFile.read(file).orElse("");
    }
}
