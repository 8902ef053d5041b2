package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.stats.signals.Timed;
import io.nodekeeper.cri.ImageFilesystem;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The newest value of each signal, each with its own time; empty if it was never measured. Immutable.
 *
 * @param nodeName the node's name
 * @param agentStartedAt when the agent's process started
 * @param kernel what the kernel counts
 * @param earlier the reading before it, for rates
 * @param nodeFs the file system of the agent's root directory
 * @param imageFs the file system of the images
 * @param images what the images use of it
 * @param pids process ids
 * @param pods the pods that run
 * @param layers by id of a container: what it wrote into its layer
 * @param logs by id of a container: what its logs use
 * @param others by UID of a pod: what it has on the node's disk besides volumes and logs
 * @param volumes by UID of a pod: its volumes
 */
record Snapshot(
        String nodeName,
        Instant agentStartedAt,
        Optional<Timed<KernelReading>> kernel,
        Optional<Timed<KernelReading>> earlier,
        Optional<Timed<Filesystem>> nodeFs,
        Optional<Timed<Filesystem>> imageFs,
        Optional<Timed<ImageFilesystem>> images,
        Optional<Timed<Level>> pids,
        List<RunningPod> pods,
        Map<String, Timed<DiskUse>> layers,
        Optional<Timed<Map<String, DiskUse>>> logs,
        Optional<Timed<Map<String, DiskUse>>> others,
        Map<String, List<Timed<VolumeUse>>> volumes) {
    /** Copies list and maps. */
    Snapshot {
        pods = List.copyOf(pods);
        layers = Map.copyOf(layers);
        volumes = Map.copyOf(volumes);
    }

    /** What the container {@code id} wrote into its layer; empty if it was never measured. */
    Optional<Timed<DiskUse>> layer(String id) {
        return Optional.ofNullable(layers.get(id));
    }

    /** What the logs of the container {@code id} use; empty if they were never measured. */
    Optional<Timed<DiskUse>> logs(String id) {
        return logs.flatMap(all -> Optional.ofNullable(all.value().get(id)).map(use -> all.map(value -> use)));
    }

    /** What the pod {@code uid} has on the node's disk besides volumes and logs; nothing if it was never measured. */
    DiskUse other(String uid) {
        return others.flatMap(all -> Optional.ofNullable(all.value().get(uid))).orElse(DiskUse.NONE);
    }
}
