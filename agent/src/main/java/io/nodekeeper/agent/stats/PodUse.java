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
 * @param containers by name, also those that have ended: what they wrote is on the disk until they are removed
 * @param volumes by name: what its {@code emptyDir} volumes have on disk, in bytes
 * @param other what it has on the node's disk besides, in bytes
 * @param layerInodes of what its containers wrote
 * @param nodeInodes of the rest that it has on disk
 * @param imagesApart whether images, and what containers wrote, are on a disk of their own
 */
public record PodUse(
        OptionalLong memory,
        OptionalLong processes,
        Map<String, ContainerUse> containers,
        Map<String, Long> volumes,
        long other,
        long layerInodes,
        long nodeInodes,
        boolean imagesApart) {

    /**
     * What a container uses.
     *
     * @param memory the working set in bytes; empty if it is not known
     * @param layer what it wrote, in bytes
     * @param logs in bytes
     */
    public record ContainerUse(OptionalLong memory, long layer, long logs) {
        /** What it wrote, and its logs, in bytes. */
        public long disk() {
            return layer + logs;
        }

        /** With what an earlier container of the same name left. */
        private ContainerUse plus(ContainerUse earlier) {
            return new ContainerUse(
                    memory.isPresent() ? memory : earlier.memory, layer + earlier.layer, logs + earlier.logs);
        }
    }

    /** Keeps copies. */
    public PodUse {
        containers = Map.copyOf(containers);
        volumes = Map.copyOf(volumes);
    }

    /** Everything that it has on the node's disk, in bytes. */
    public long disk() {
        return containers.values().stream().mapToLong(this::disk).sum()
                + volumes.values().stream().mapToLong(Long::longValue).sum()
                + other;
    }

    /** What {@code container}, one of this pod, has on the node's disk, in bytes. */
    public long disk(ContainerUse container) {
        return imagesApart ? container.logs() : container.disk();
    }

    /** Everything that it has on the disk of the images, in bytes. */
    public long imageDisk() {
        return imagesApart
                ? containers.values().stream().mapToLong(ContainerUse::layer).sum()
                : disk();
    }

    /** Of everything that it has on the node's disk. */
    public long inodes() {
        return imagesApart ? nodeInodes : layerInodes + nodeInodes;
    }

    /** Of everything that it has on the disk of the images. */
    public long imageInodes() {
        return imagesApart ? layerInodes : inodes();
    }

    /** By UID: what the pods of {@code snapshot} use, whose volumes use {@code volumes}. */
    static Map<String, PodUse> of(Snapshot snapshot, Map<String, Map<String, DiskUse>> volumes, boolean imagesApart) {
        Map<String, PodUse> all = new HashMap<>();
        for (RunningPod pod : snapshot.pods()) {
            Map<String, DiskUse> own = volumes.getOrDefault(pod.uid(), Map.of());
            all.put(pod.uid(), of(pod, snapshot, own, imagesApart));
        }
        return all;
    }

    private static PodUse of(RunningPod pod, Snapshot snapshot, Map<String, DiskUse> volumes, boolean imagesApart) {
        Map<String, CgroupUsage> cgroups =
                snapshot.kernel().map(reading -> reading.value().pods()).orElse(Map.of());
        CgroupUsage usage = PodUsage.of(pod, cgroups);
        Map<String, ContainerUse> containers = new LinkedHashMap<>();
        DiskUse other = snapshot.other(pod.uid());
        long layerInodes = 0;
        long nodeInodes = other.inodes()
                + volumes.values().stream().mapToLong(DiskUse::inodes).sum();
        Map<String, String> names = new LinkedHashMap<>();
        pod.containers().forEach(container -> names.put(container.id(), container.name()));
        pod.ended().forEach(container -> names.put(container.id(), container.name()));
        for (Map.Entry<String, String> container : names.entrySet()) {
            String id = container.getKey();
            DiskUse layer = snapshot.layer(id).map(Timed::value).orElse(DiskUse.NONE);
            DiskUse logs = snapshot.logs(id).map(Timed::value).orElse(DiskUse.NONE);
            layerInodes += layer.inodes();
            nodeInodes += logs.inodes();
            containers.merge(
                    container.getValue(),
                    new ContainerUse(memory(Optional.ofNullable(cgroups.get(id))), layer.bytes(), logs.bytes()),
                    ContainerUse::plus);
        }
        Map<String, Long> bytes = new HashMap<>();
        volumes.forEach((name, disk) -> bytes.put(name, disk.bytes()));
        return new PodUse(
                memory(Optional.of(usage)),
                usage.processes(),
                containers,
                bytes,
                other.bytes(),
                layerInodes,
                nodeInodes,
                imagesApart);
    }

    private static OptionalLong memory(Optional<CgroupUsage> usage) {
        return usage.flatMap(CgroupUsage::memory)
                .map(memory -> OptionalLong.of(memory.workingSet()))
                .orElseGet(OptionalLong::empty);
    }
}
