package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.stats.cgroups.CgroupUsage;
import io.nodekeeper.agent.stats.cgroups.MemoryUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * What a pod uses: that of its own cgroup or, if it has none, as with runtimes that were given no parent, the sum of its
 * sandbox and containers. Stateless.
 */
final class PodUsage {
    private PodUsage() {}

    /** The usage of {@code pod}; without a value that none of its cgroups has. */
    static CgroupUsage of(RunningPod pod, Map<String, CgroupUsage> cgroups) {
        CgroupUsage own = cgroups.get(pod.uid());
        if (own != null) {
            return own;
        }
        List<CgroupUsage> parts = new ArrayList<>();
        pod.ids().forEach(id -> Optional.ofNullable(cgroups.get(id)).ifPresent(parts::add));
        return new CgroupUsage(
                sum(parts, CgroupUsage::cpuNanos),
                parts.stream().flatMap(part -> part.memory().stream()).reduce(PodUsage::plus),
                sum(parts, CgroupUsage::swapBytes),
                sum(parts, CgroupUsage::processes),
                Map.of());
    }

    private static MemoryUsage plus(MemoryUsage a, MemoryUsage b) {
        return new MemoryUsage(
                a.usage() + b.usage(),
                a.workingSet() + b.workingSet(),
                a.rss() + b.rss(),
                a.pageFaults() + b.pageFaults(),
                a.majorPageFaults() + b.majorPageFaults(),
                OptionalLong.empty());
    }

    private static OptionalLong sum(List<CgroupUsage> parts, Function<CgroupUsage, OptionalLong> value) {
        return parts.stream()
                .map(value)
                .filter(OptionalLong::isPresent)
                .map(OptionalLong::getAsLong)
                .reduce(Long::sum)
                .map(OptionalLong::of)
                .orElse(OptionalLong.empty());
    }
}
