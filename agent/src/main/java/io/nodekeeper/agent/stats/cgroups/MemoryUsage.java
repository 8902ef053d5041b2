package io.nodekeeper.agent.stats.cgroups;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The memory of a cgroup and of those below it, in bytes. Immutable.
 *
 * @param usage all memory, the page cache included
 * @param workingSet usage less the inactive pages of files, which the kernel can drop at once; at least 0
 * @param rss anonymous memory
 * @param pageFaults since the cgroup was made
 * @param majorPageFaults those of them that read from a disk
 * @param limit empty if there is none
 */
public record MemoryUsage(
        long usage, long workingSet, long rss, long pageFaults, long majorPageFaults, OptionalLong limit) {
    /** Kubernetes reads a larger limit as none; version 1 writes 2^63 less a page for that. */
    private static final long UNLIMITED = 1L << 62;

    /**
     * The memory according to the files of version 1.
     *
     * @param usage {@code memory.usage_in_bytes}
     * @param stat {@code memory.stat}
     * @param limit {@code memory.limit_in_bytes}; empty text if it cannot be read
     * @return empty if {@code usage} or the inactive pages are missing
     */
    static Optional<MemoryUsage> version1(OptionalLong usage, Map<String, Long> stat, String limit) {
        return of(usage, stat, "total_", "total_rss", limit);
    }

    /**
     * The memory according to the files of version 2. The root cgroup has no {@code memory.current}; its usage is the sum
     * of anonymous memory and page cache, as Kubernetes computes it.
     *
     * @param current {@code memory.current}; empty for the root
     * @param stat {@code memory.stat}
     * @param limit {@code memory.max}; empty text for the root
     * @return empty if {@code stat} lacks a field that is needed
     */
    static Optional<MemoryUsage> version2(OptionalLong current, Map<String, Long> stat, String limit) {
        OptionalLong usage = current.isPresent() || !stat.containsKey("anon") || !stat.containsKey("file")
                ? current
                : OptionalLong.of(stat.get("anon") + stat.get("file"));
        return of(usage, stat, "", "anon", limit);
    }

    private static Optional<MemoryUsage> of(
            OptionalLong usage, Map<String, Long> stat, String prefix, String rss, String limit) {
        Long inactive = stat.get(prefix + "inactive_file");
        if (usage.isEmpty() || inactive == null) {
            return Optional.empty();
        }
        OptionalLong most = KernelNumbers.number(limit);
        return Optional.of(new MemoryUsage(
                usage.getAsLong(),
                Math.max(0, usage.getAsLong() - inactive),
                stat.getOrDefault(rss, 0L),
                stat.getOrDefault(prefix + "pgfault", 0L),
                stat.getOrDefault(prefix + "pgmajfault", 0L),
                most.isPresent() && most.getAsLong() < UNLIMITED ? most : OptionalLong.empty()));
    }
}
