package io.nodekeeper.agent.stats.cgroups;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a cgroup and those below it use; a value is absent where the kernel does not count it. Immutable.
 *
 * @param cpuNanos processor time since the cgroup was made
 * @param memory memory
 * @param swapBytes memory in swap
 * @param processes processes and threads
 * @param stalls by resource ({@code cpu}, {@code memory}, {@code io}); only version 2 has them
 */
public record CgroupUsage(
        OptionalLong cpuNanos,
        Optional<MemoryUsage> memory,
        OptionalLong swapBytes,
        OptionalLong processes,
        Map<String, StallTimes> stalls) {
    /** Nothing is known. */
    public static final CgroupUsage UNKNOWN = new CgroupUsage(
            OptionalLong.empty(), Optional.empty(), OptionalLong.empty(), OptionalLong.empty(), Map.of());

    /** Copies the map. */
    public CgroupUsage {
        stalls = Map.copyOf(stalls);
    }
}
