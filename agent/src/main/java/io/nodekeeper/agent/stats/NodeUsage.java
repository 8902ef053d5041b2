package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.stats.cgroups.CgroupUsage;
import io.nodekeeper.agent.stats.cgroups.StallTimes;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the whole machine uses. Immutable.
 *
 * @param root the root cgroup
 * @param memoryBytes MemTotal
 * @param swapTotal SwapTotal in bytes
 * @param swapFree SwapFree in bytes
 * @param network the interface of the default route; empty if there is none
 * @param stalls by resource: {@code cpu}, {@code memory}, {@code io}; empty if the kernel does not measure them
 * @param bootedAt when the kernel started
 */
record NodeUsage(
        CgroupUsage root,
        OptionalLong memoryBytes,
        OptionalLong swapTotal,
        OptionalLong swapFree,
        Optional<Network> network,
        Map<String, StallTimes> stalls,
        Optional<Instant> bootedAt) {

    /**
     * The counters of a network interface since it was made.
     *
     * @param name the interface
     */
    record Network(String name, long receivedBytes, long receiveErrors, long sentBytes, long sendErrors) {}

    /** Copies the map. */
    NodeUsage {
        stalls = Map.copyOf(stalls);
    }
}
