package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.agent.stats.cgroups.BoundedFile;
import io.nodekeeper.agent.stats.cgroups.CgroupFiles;
import io.nodekeeper.agent.stats.cgroups.CgroupIndex;
import io.nodekeeper.agent.stats.cgroups.CgroupPaths;
import io.nodekeeper.agent.stats.cgroups.CgroupUsage;
import io.nodekeeper.agent.stats.cgroups.KernelNumbers;
import io.nodekeeper.agent.stats.cgroups.StallTimes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/** Reads what the kernel counts about the machine, the node's own services and its pods. Used by one thread at a time. */
final class KernelReader {
    private static final long KIB = 1_024;
    /** Where systemd runs the container runtimes of distributions. */
    private static final List<String> RUNTIMES =
            List.of("/system.slice/containerd.service", "/system.slice/crio.service", "/system.slice/docker.service");

    private final Path root;
    private final CgroupFiles cgroups;
    private final CgroupIndex index;
    private final PodNetworks networks;
    private final List<String> pods;

    /**
     * A reader of the files below {@code root}, which is {@code /} or a copy for tests. Looks which version is mounted.
     *
     * @param pods where the cgroup of all pods may be, such as {@code /kubepods.slice}
     */
    KernelReader(Path root, List<String> pods) {
        this.pods = List.copyOf(pods);
        this.root = root;
        this.cgroups = CgroupFiles.below(root);
        this.index = new CgroupIndex(cgroups);
        this.networks = new PodNetworks(root);
    }

    /** Reads everything about the machine and about {@code pods}; blocks. */
    KernelReading read(List<RunningPod> pods) throws IOException {
        Set<String> wanted = new HashSet<>();
        pods.forEach(pod -> wanted.addAll(pod.ids()));
        Map<String, CgroupPaths> found = index.find(wanted);
        Map<String, CgroupUsage> used = new HashMap<>();
        for (Map.Entry<String, CgroupPaths> cgroup : found.entrySet()) {
            used.put(cgroup.getKey(), cgroups.usage(cgroup.getValue()));
        }
        return new KernelReading(node(), system(), used, networks(pods, found));
    }

    /** By UID: the interfaces that the sandbox sees or, where that has no cgroup, the first container. */
    private Map<String, List<NodeUsage.Network>> networks(List<RunningPod> pods, Map<String, CgroupPaths> found)
            throws IOException {
        Map<String, List<NodeUsage.Network>> seen = new HashMap<>();
        Optional<String> node = networks.ofNode();
        for (RunningPod pod : pods) {
            Optional<String> place = Stream.concat(
                            Stream.of(pod.sandbox()), pod.containers().stream().map(RunningPod.RunningContainer::id))
                    .flatMap(id -> Optional.ofNullable(found.get(id)).flatMap(CgroupPaths::unified).stream())
                    .findFirst();
            if (place.isPresent()) {
                Path cgroup = cgroups.tree().resolve(place.get().substring(1));
                seen.put(pod.uid(), networks.of(cgroup, node));
            }
        }
        return seen;
    }

    /** By resource: how long tasks of the machine were stalled; empty if the kernel does not measure it. Blocks. */
    Map<String, StallTimes> stalls() {
        return CgroupFiles.stalls(root.resolve("proc/pressure"), "");
    }

    private NodeUsage node() throws IOException {
        Map<String, Long> memory = KernelNumbers.fields(text("proc/meminfo"));
        String stat = text("proc/stat");
        CgroupUsage used = cgroups.usage(CgroupPaths.everywhere("/"));
        // Before Linux 5.x the root of version 2 does not count processor time.
        OptionalLong processor = used.cpuNanos().isPresent() ? used.cpuNanos() : ProcText.processorNanos(stat);
        OptionalLong boot = ProcText.bootSeconds(stat);
        String dev = text("proc/net/dev");
        return new NodeUsage(
                new CgroupUsage(processor, used.memory(), used.swapBytes(), used.processes(), used.stalls()),
                bytes(memory, "MemTotal"),
                bytes(memory, "SwapTotal"),
                bytes(memory, "SwapFree"),
                LinuxHost.defaultInterface(root).flatMap(name -> ProcText.network(dev, name)),
                stalls(),
                boot.isPresent() ? Optional.of(Instant.ofEpochSecond(boot.getAsLong())) : Optional.empty());
    }

    private Map<String, CgroupUsage> system() throws IOException {
        Map<String, CgroupUsage> system = new LinkedHashMap<>();
        CgroupPaths own = CgroupPaths.parse(text("proc/self/cgroup")).belowRoot();
        system.put("kubelet", cgroups.usage(own));
        addFirst(system, "runtime", RUNTIMES);
        addFirst(system, "pods", pods);
        system.values().removeIf(CgroupUsage.UNKNOWN::equals);
        return system;
    }

    private void addFirst(Map<String, CgroupUsage> system, String name, List<String> paths) throws IOException {
        for (String path : paths) {
            if (Files.isDirectory(cgroups.tree().resolve(path.substring(1)))) {
                system.put(name, cgroups.usage(CgroupPaths.everywhere(path)));
                return;
            }
        }
    }

    private static OptionalLong bytes(Map<String, Long> memory, String field) {
        Long kib = memory.get(field);
        return kib == null ? OptionalLong.empty() : OptionalLong.of(kib * KIB);
    }

    private String text(String path) throws IOException {
        return BoundedFile.read(root.resolve(path)).orElse("");
    }
}
