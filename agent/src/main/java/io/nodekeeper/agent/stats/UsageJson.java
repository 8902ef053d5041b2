package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.stats.cgroups.CgroupUsage;
import io.nodekeeper.agent.stats.cgroups.MemoryUsage;
import io.nodekeeper.agent.stats.cgroups.StallTimes;
import io.nodekeeper.agent.stats.signals.Timed;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The parts of Kubernetes' summary of statistics ({@code stats.k8s.io/v1alpha1}). Each has its own time. Stateless. */
final class UsageJson {
    /** Two readings that are closer say nothing about the rate: the kernel counts some values in ticks of 10 ms. */
    private static final Duration SHORTEST_WINDOW = Duration.ofSeconds(1);
    /** The usage at present does not follow from readings that are further apart. */
    private static final Duration LONGEST_WINDOW = Duration.ofMinutes(5);

    private UsageJson() {}

    /** {@code cpu}: the sum, and the rate since {@code earlier}; empty if the kernel does not count it. */
    static Optional<JsonObject> cpu(
            Timed<CgroupUsage> usage, Optional<Timed<CgroupUsage>> earlier, Map<String, StallTimes> stalls) {
        OptionalLong nanos = usage.value().cpuNanos();
        if (nanos.isEmpty()) {
            return Optional.empty();
        }
        JsonObject.Builder json = at(usage);
        earlier.flatMap(before -> rate(usage, before)).ifPresent(rate -> json.put("usageNanoCores", rate));
        json.put("usageCoreNanoSeconds", nanos.getAsLong());
        putStalls(json, stalls.get("cpu"));
        return Optional.of(json.build());
    }

    /** {@code memory}; {@code capacity} is that of the node, else the limit of the cgroup counts. */
    static Optional<JsonObject> memory(
            Timed<CgroupUsage> usage, OptionalLong capacity, Map<String, StallTimes> stalls) {
        return usage.value().memory().map(memory -> {
            JsonObject.Builder json = at(usage);
            OptionalLong limit = capacity.isPresent() ? capacity : memory.limit();
            if (limit.isPresent()) {
                json.put("availableBytes", Math.max(0, limit.getAsLong() - memory.workingSet()));
            }
            putMemory(json, memory);
            putStalls(json, stalls.get("memory"));
            return json.build();
        });
    }

    /** {@code io}: only how long tasks were stalled. */
    static Optional<JsonObject> io(Timed<?> usage, Map<String, StallTimes> stalls) {
        return Optional.ofNullable(stalls.get("io")).map(times -> {
            JsonObject.Builder json = at(usage);
            putStalls(json, times);
            return json.build();
        });
    }

    /** {@code swap} of a pod or container. */
    static Optional<JsonObject> swap(Timed<CgroupUsage> usage) {
        OptionalLong bytes = usage.value().swapBytes();
        return bytes.isPresent()
                ? Optional.of(at(usage).put("swapUsageBytes", bytes.getAsLong()).build())
                : Optional.empty();
    }

    /** {@code fs} and its like: the file system, and what is used of it. */
    static JsonObject filesystem(Timed<Filesystem> filesystem, DiskUse used) {
        Filesystem levels = filesystem.value();
        return at(filesystem)
                .put("availableBytes", levels.bytes().available())
                .put("capacityBytes", levels.bytes().capacity())
                .put("usedBytes", used.bytes())
                .put("inodesFree", levels.inodes().available())
                .put("inodes", levels.inodes().capacity())
                .put("inodesUsed", used.inodes())
                .build();
    }

    /** All that is used of a file system. */
    static DiskUse all(Filesystem filesystem) {
        return new DiskUse(
                filesystem.bytes().capacity() - filesystem.freeBytes(),
                filesystem.inodes().capacity() - filesystem.inodes().available());
    }

    /** An object that begins with the time of {@code value}. */
    static JsonObject.Builder at(Timed<?> value) {
        return JsonObject.builder().put("time", KubeTime.format(value.time()));
    }

    /** Nanoseconds of processor time for each second. */
    private static Optional<Long> rate(Timed<CgroupUsage> usage, Timed<CgroupUsage> earlier) {
        OptionalLong now = usage.value().cpuNanos();
        OptionalLong before = earlier.value().cpuNanos();
        Duration window = usage.since(earlier);
        if (now.isEmpty()
                || before.isEmpty()
                || now.getAsLong() < before.getAsLong()
                || window.compareTo(SHORTEST_WINDOW) < 0
                || window.compareTo(LONGEST_WINDOW) > 0) {
            return Optional.empty();
        }
        return Optional.of((long) ((now.getAsLong() - before.getAsLong()) * 1e9 / window.toNanos()));
    }

    private static void putMemory(JsonObject.Builder json, MemoryUsage memory) {
        json.put("usageBytes", memory.usage())
                .put("workingSetBytes", memory.workingSet())
                .put("rssBytes", memory.rss())
                .put("pageFaults", memory.pageFaults())
                .put("majorPageFaults", memory.majorPageFaults());
    }

    private static void putStalls(JsonObject.Builder json, @Nullable StallTimes times) {
        if (times != null) {
            JsonObject.Builder psi = JsonObject.builder();
            times.full().ifPresent(full -> psi.put("full", share(full)));
            json.put("psi", psi.put("some", share(times.some())).build());
        }
    }

    /** The sum is in µs, as the kernel's and a kubelet's. */
    private static JsonObject share(StallTimes.Share share) {
        return JsonObject.builder()
                .put("total", share.totalMicros())
                .put("avg10", decimal(share.avg10()))
                .put("avg60", decimal(share.avg60()))
                .put("avg300", decimal(share.avg300()))
                .build();
    }

    private static JsonNumber decimal(double value) {
        return new JsonNumber(BigDecimal.valueOf(value).stripTrailingZeros().toPlainString());
    }
}
