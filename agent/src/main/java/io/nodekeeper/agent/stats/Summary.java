package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.stats.cgroups.CgroupUsage;
import io.nodekeeper.agent.stats.cgroups.StallTimes;
import io.nodekeeper.agent.stats.signals.Timed;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A kubelet's {@code /stats/summary} ({@code stats.k8s.io/v1alpha1}). What was never measured is left out, as are volumes,
 * which the agent does not know. Immutable.
 *
 * @param values the signals
 * @param onlyCpuAndMemory whether to leave out file systems, network and process ids
 */
record Summary(Snapshot values, boolean onlyCpuAndMemory) {

    /** The document. */
    JsonObject json() {
        return JsonObject.builder()
                .put("node", node())
                .put(
                        "pods",
                        new JsonArray(
                                values.pods().stream().<JsonValue>map(this::pod).toList()))
                .build();
    }

    private JsonObject node() {
        JsonObject.Builder json = JsonObject.builder().put("nodeName", values.nodeName());
        values.kernel().ifPresent(kernel -> {
            NodeUsage node = kernel.value().node();
            Timed<CgroupUsage> root = kernel.map(reading -> reading.node().root());
            json.put("systemContainers", system(kernel));
            node.bootedAt().ifPresent(time -> json.put("startTime", KubeTime.format(time)));
            UsageJson.cpu(
                            root,
                            values.earlier()
                                    .map(before ->
                                            before.map(reading -> reading.node().root())),
                            node.stalls())
                    .ifPresent(cpu -> json.put("cpu", cpu));
            UsageJson.memory(root, node.memoryBytes(), node.stalls()).ifPresent(memory -> json.put("memory", memory));
            UsageJson.io(kernel, node.stalls()).ifPresent(io -> json.put("io", io));
            swap(kernel.map(KernelReading::node)).ifPresent(swap -> json.put("swap", swap));
            if (!onlyCpuAndMemory) {
                node.network().ifPresent(network -> json.put("network", network(kernel, network, List.of(network))));
            }
        });
        if (!onlyCpuAndMemory) {
            values.nodeFs().ifPresent(fs -> json.put("fs", UsageJson.filesystem(fs, UsageJson.all(fs.value()))));
            imageFs()
                    .ifPresent(fs -> json.put(
                            "runtime",
                            JsonObject.builder()
                                    .put("imageFs", fs)
                                    .put("containerFs", fs)
                                    .build()));
            values.pids()
                    .ifPresent(pids -> json.put(
                            "rlimit",
                            UsageJson.at(pids)
                                    .put("maxpid", pids.value().capacity())
                                    .put(
                                            "curproc",
                                            pids.value().capacity()
                                                    - pids.value().available())
                                    .build()));
        }
        return json.build();
    }

    /** The writable layers are on the file system of the images. */
    private Optional<JsonObject> imageFs() {
        return values.imageFs()
                .map(fs -> UsageJson.filesystem(
                        fs,
                        values.images()
                                .map(images -> new DiskUse(
                                        images.value().usedBytes(),
                                        images.value().usedInodes()))
                                .orElseGet(() -> UsageJson.all(fs.value()))));
    }

    private JsonArray system(Timed<KernelReading> kernel) {
        List<JsonValue> containers = new ArrayList<>();
        for (String name : List.of("kubelet", "runtime", "pods")) {
            Optional.ofNullable(kernel.value().system().get(name)).ifPresent(usage -> {
                JsonObject.Builder json = JsonObject.builder().put("name", name);
                startOf(name).ifPresent(time -> json.put("startTime", KubeTime.format(time)));
                putUsage(
                        json,
                        kernel.map(reading -> usage),
                        values.earlier()
                                .flatMap(before -> Optional.ofNullable(
                                                before.value().system().get(name))
                                        .map(then -> before.map(reading -> then))));
                containers.add(json.build());
            });
        }
        return new JsonArray(containers);
    }

    private Optional<Instant> startOf(String system) {
        return system.equals("kubelet") ? Optional.of(values.agentStartedAt()) : Optional.empty();
    }

    private static Optional<JsonObject> swap(Timed<NodeUsage> node) {
        OptionalLong total = node.value().swapTotal();
        OptionalLong free = node.value().swapFree();
        return total.isPresent() && free.isPresent()
                ? Optional.of(UsageJson.at(node)
                        .put("swapAvailableBytes", free.getAsLong())
                        .put("swapUsageBytes", total.getAsLong() - free.getAsLong())
                        .build())
                : Optional.empty();
    }

    private static JsonObject network(Timed<?> kernel, NodeUsage.Network main, List<NodeUsage.Network> all) {
        return counters(UsageJson.at(kernel), main).toBuilder()
                .put(
                        "interfaces",
                        new JsonArray(all.stream()
                                .<JsonValue>map(network -> counters(JsonObject.builder(), network))
                                .toList()))
                .build();
    }

    private static JsonObject counters(JsonObject.Builder json, NodeUsage.Network network) {
        return json.put("name", network.name())
                .put("rxBytes", network.receivedBytes())
                .put("rxErrors", network.receiveErrors())
                .put("txBytes", network.sentBytes())
                .put("txErrors", network.sendErrors())
                .build();
    }

    private JsonObject pod(RunningPod pod) {
        JsonObject.Builder json = JsonObject.builder()
                .put(
                        "podRef",
                        JsonObject.builder()
                                .put("name", pod.name())
                                .put("namespace", pod.namespace())
                                .put("uid", pod.uid())
                                .build());
        pod.startedAt().ifPresent(time -> json.put("startTime", KubeTime.format(time)));
        json.put(
                "containers",
                new JsonArray(pod.containers().stream()
                        .<JsonValue>map(this::container)
                        .toList()));
        values.kernel().ifPresent(kernel -> {
            Timed<CgroupUsage> usage = podUsage(kernel, pod);
            putUsage(json, usage, values.earlier().map(before -> podUsage(before, pod)));
            if (!onlyCpuAndMemory) {
                networks(kernel, pod).ifPresent(network -> json.put("network", network));
                usage.value()
                        .processes()
                        .ifPresent(count -> json.put(
                                "process_stats",
                                JsonObject.builder().put("process_count", count).build()));
            }
        });
        if (!onlyCpuAndMemory) {
            List<Timed<VolumeUse>> volumes = values.volumes().getOrDefault(pod.uid(), List.of());
            if (!volumes.isEmpty()) {
                json.put(
                        "volume",
                        new JsonArray(volumes.stream()
                                .<JsonValue>map(volume -> volume(volume, pod))
                                .toList()));
            }
            values.nodeFs().ifPresent(fs -> json.put("ephemeral-storage", UsageJson.filesystem(fs, local(pod))));
        }
        return json.build();
    }

    /** The interface that users know is {@code eth0}; a pod with several networks has others besides. */
    private static Optional<JsonObject> networks(Timed<KernelReading> kernel, RunningPod pod) {
        List<NodeUsage.Network> all = kernel.value().networks().getOrDefault(pod.uid(), List.of());
        return all.stream()
                .filter(network -> network.name().equals("eth0"))
                .findFirst()
                .or(() -> all.stream().findFirst())
                .map(main -> network(kernel, main, all));
    }

    private static JsonObject volume(Timed<VolumeUse> reading, RunningPod pod) {
        VolumeUse volume = reading.value();
        JsonObject.Builder json = UsageJson.filesystem(reading.map(VolumeUse::filesystem), volume.used()).toBuilder()
                .put("name", volume.name());
        volume.claim()
                .ifPresent(claim -> json.put(
                        "pvcRef",
                        JsonObject.builder()
                                .put("name", claim)
                                .put("namespace", pod.namespace())
                                .build()));
        return json.build();
    }

    static Timed<CgroupUsage> podUsage(Timed<KernelReading> kernel, RunningPod pod) {
        return kernel.map(reading -> PodUsage.of(pod, reading.pods()));
    }

    private JsonObject container(RunningPod.RunningContainer container) {
        JsonObject.Builder json = JsonObject.builder().put("name", container.name());
        container.startedAt().ifPresent(time -> json.put("startTime", KubeTime.format(time)));
        values.kernel()
                .flatMap(kernel -> usage(kernel, container.id()))
                .ifPresent(usage ->
                        putUsage(json, usage, values.earlier().flatMap(before -> usage(before, container.id()))));
        if (!onlyCpuAndMemory) {
            values.layer(container.id())
                    .ifPresent(layer -> values.imageFs()
                            .ifPresent(
                                    fs -> json.put("rootfs", UsageJson.filesystem(older(fs, layer), layer.value()))));
            values.logs(container.id())
                    .ifPresent(logs -> values.nodeFs()
                            .ifPresent(fs -> json.put("logs", UsageJson.filesystem(older(fs, logs), logs.value()))));
        }
        return json.build();
    }

    /** A statement about both has the time of the older one. */
    private static Timed<Filesystem> older(Timed<Filesystem> filesystem, Timed<DiskUse> use) {
        return use.since(filesystem).isNegative() ? use.map(used -> filesystem.value()) : filesystem;
    }

    static Optional<Timed<CgroupUsage>> usage(Timed<KernelReading> kernel, String id) {
        return Optional.ofNullable(kernel.value().pods().get(id)).map(usage -> kernel.map(reading -> usage));
    }

    /** What the pod uses of the node's local storage: layers, logs, volumes on the node's disk and its other files. */
    private DiskUse local(RunningPod pod) {
        DiskUse sum = values.other(pod.uid());
        for (Timed<VolumeUse> volume : values.volumes().getOrDefault(pod.uid(), List.of())) {
            sum = sum.plus(volume.value().local() ? volume.value().used() : DiskUse.NONE);
        }
        for (RunningPod.RunningContainer container : pod.containers()) {
            sum = sum.plus(values.layer(container.id()).map(Timed::value).orElse(DiskUse.NONE))
                    .plus(values.logs(container.id()).map(Timed::value).orElse(DiskUse.NONE));
        }
        return sum;
    }

    private static void putUsage(
            JsonObject.Builder json, Timed<CgroupUsage> usage, Optional<Timed<CgroupUsage>> earlier) {
        Map<String, StallTimes> stalls = usage.value().stalls();
        UsageJson.cpu(usage, earlier, stalls).ifPresent(cpu -> json.put("cpu", cpu));
        UsageJson.memory(usage, OptionalLong.empty(), stalls).ifPresent(memory -> json.put("memory", memory));
        UsageJson.io(usage, stalls).ifPresent(io -> json.put("io", io));
        UsageJson.swap(usage).ifPresent(swap -> json.put("swap", swap));
    }
}
