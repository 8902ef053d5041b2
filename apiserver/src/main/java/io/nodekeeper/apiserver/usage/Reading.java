package io.nodekeeper.apiserver.usage;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.Optional;

/**
 * What a node measured of itself or of a container. Immutable.
 *
 * @param time when, by the node's clock
 * @param cpuNanos processor time since the start, in nanoseconds
 * @param rate what the node itself says about the processor time of one second, in nanoseconds
 * @param memory the working set in bytes
 */
record Reading(Optional<Instant> time, Optional<Long> cpuNanos, Optional<Long> rate, Optional<Long> memory) {

    /** Of an object of a kubelet's summary that has {@code cpu} and {@code memory}; negative numbers are left out. */
    static Reading of(JsonObject stats) {
        JsonObject cpu = stats.object("cpu");
        return new Reading(
                KubeTime.parse(cpu.text("time")),
                amount(cpu, "usageCoreNanoSeconds"),
                amount(cpu, "usageNanoCores"),
                amount(stats.object("memory"), "workingSetBytes"));
    }

    private static Optional<Long> amount(JsonObject stats, String name) {
        return stats.number(name).filter(value -> value >= 0);
    }
}
