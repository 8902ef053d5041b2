package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.stats.cgroups.CgroupUsage;
import io.nodekeeper.agent.stats.signals.Timed;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a pod uses, for decisions about it. Immutable.
 *
 * @param memory the working set in bytes; empty if it is not known
 * @param processes how many; empty if it is not known
 * @param containers by name
 * @param volumes by name: what its {@code emptyDir} volumes have on disk, in bytes
 * @param inodes of everything that it has on disk
 */
public record PodUse(
        OptionalLong memory,
        OptionalLong processes,
        Map<String, ContainerUse> containers,
        Map<String, Long> volumes,
        long inodes) {

    /**
     * What a container uses.
     *
     * @param memory the working set in bytes; empty if it is not known
     * @param disk what it wrote, and its logs, in bytes
     */
    public record ContainerUse(OptionalLong memory, long disk) {}

    /** Keeps copies. */
    public PodUse {
        containers = Map.copyOf(containers);
        volumes = Map.copyOf(volumes);
    }

    /** Everything that it has on disk, in bytes. */
    public long disk() {
        return containers.values().stream().mapToLong(ContainerUse::disk).sum()
                + volumes.values().stream().mapToLong(Long::longValue).sum();
    }

    /** By UID: what the pods of {@code snapshot} use, whose volumes use {@code volumes}. */
    static Map<String, PodUse> of(Snapshot snapshot, Map<String, Map<String, DiskUse>> volumes) {
        Map<String, PodUse> all = new HashMap<>();
        for (RunningPod pod : snapshot.pods()) {
            Map<String, DiskUse> own = volumes.getOrDefault(pod.uid(), Map.of());
            all.put(pod.uid(), of(pod, snapshot, own));
        }
        return all;
    }

    private static PodUse of(RunningPod pod, Snapshot snapshot, Map<String, DiskUse> volumes) {
        Map<String, CgroupUsage> cgroups =
                snapshot.kernel().map(reading -> reading.value().pods()).orElse(Map.of());
        CgroupUsage usage = PodUsage.of(pod, cgroups);
        Map<String, ContainerUse> containers = new LinkedHashMap<>();
        long inodes = volumes.values().stream().mapToLong(DiskUse::inodes).sum();
        for (RunningPod.RunningContainer container : pod.containers()) {
            DiskUse disk = Optional.ofNullable(snapshot.layers().get(container.id()))
                    .map(Timed::value)
                    .orElse(DiskUse.NONE)
                    .plus(snapshot.logs()
                            .flatMap(logs -> Optional.ofNullable(logs.value().get(container.id())))
                            .orElse(DiskUse.NONE));
            inodes += disk.inodes();
            containers.put(
                    container.name(),
                    new ContainerUse(memory(Optional.ofNullable(cgroups.get(container.id()))), disk.bytes()));
        }
        Map<String, Long> bytes = new HashMap<>();
        volumes.forEach((name, disk) -> bytes.put(name, disk.bytes()));
        return new PodUse(memory(Optional.of(usage)), usage.processes(), containers, bytes, inodes);
    }

    private static OptionalLong memory(Optional<CgroupUsage> usage) {
        return usage.flatMap(CgroupUsage::memory)
                .map(memory -> OptionalLong.of(memory.workingSet()))
                .orElseGet(OptionalLong::empty);
    }
}
