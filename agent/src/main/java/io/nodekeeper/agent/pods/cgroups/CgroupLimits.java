package io.nodekeeper.agent.pods.cgroups;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.status.ResourceList;
import io.nodekeeper.api.QosClass;
import io.nodekeeper.api.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * The limits of a cgroup, with the kubelet's formulas; a limit that is absent is not written. Immutable.
 *
 * @param shares the weight of processor time, as in version 1
 * @param quota µs of processor time in each {@link CpuAmounts#PERIOD}
 * @param memory bytes
 * @param processes the most processes and threads
 * @param hugePages bytes of huge pages by their size, such as {@code 2MB}; none of the other sizes may be used
 * @param noSwap whether nothing of it may be swapped out; only version 2 can limit that
 */
record CgroupLimits(
        OptionalLong shares,
        OptionalLong quota,
        OptionalLong memory,
        OptionalLong processes,
        Optional<Map<String, Long>> hugePages,
        boolean noSwap) {

    /** Only a weight. */
    static CgroupLimits ofShares(long shares) {
        return new CgroupLimits(
                OptionalLong.of(shares),
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalLong.empty(),
                Optional.empty(),
                false);
    }

    /**
     * The limits of a pod: the weight of what it requests, and a limit of each resource that all its containers limit. Huge
     * pages are limited to what it requests. It may not swap: the kubelet's default, {@code NoSwap}.
     *
     * @param cpuQuota whether processor time is limited at all
     * @param processes the most processes; less than 1 for no limit
     */
    static CgroupLimits ofPod(Pod pod, boolean cpuQuota, long processes) {
        OptionalLong quota = cpuQuota ? limit(pod, "cpu", Quantity::toMillis) : OptionalLong.empty();
        return new CgroupLimits(
                OptionalLong.of(CpuAmounts.shares(requested(pod))),
                quota.isPresent() ? OptionalLong.of(CpuAmounts.quota(quota.getAsLong())) : quota,
                limit(pod, "memory", Quantity::toLong),
                processes < 1 ? OptionalLong.empty() : OptionalLong.of(processes),
                Optional.of(hugePages(pod)),
                true);
    }

    private static Map<String, Long> hugePages(Pod pod) {
        Map<String, Quantity> requested = new TreeMap<>();
        // Each request is a sum over all containers, of which a pod may have as many as resources.
        pod.requested().stream()
                .filter(ResourceList::hugePages)
                .forEach(resource -> requested.put(resource, pod.request(resource)));
        return HugePages.limits(requested);
    }

    /** The weight of all burstable ones of {@code pods}. */
    static long burstableShares(List<Pod> pods) {
        return CpuAmounts.shares(pods.stream()
                .filter(pod -> QosClass.of(pod.spec()) == QosClass.BURSTABLE)
                .mapToLong(CgroupLimits::requested)
                .sum());
    }

    private static long requested(Pod pod) {
        return pod.request("cpu").toMillis();
    }

    private static OptionalLong limit(Pod pod, String resource, ToLongFunction<Quantity> amount) {
        Optional<Quantity> limit = pod.limit(resource).filter(sum -> !sum.isZero());
        return limit.isPresent() ? OptionalLong.of(amount.applyAsLong(limit.get())) : OptionalLong.empty();
    }
}
