package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.stats.cgroups.CgroupUsage;
import io.nodekeeper.agent.stats.cgroups.MemoryUsage;
import io.nodekeeper.agent.stats.signals.Timed;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A kubelet's {@code /metrics/resource} in Prometheus' text format: processor time and memory of node, pods and containers,
 * each sample with the time of its measurement. Not thread-safe; used for one answer.
 */
final class ResourceMetrics {
    private static final long NANOS_IN_SECOND = 1_000_000_000;

    private enum Family {
        CONTAINER_CPU(
                "container_cpu_usage_seconds_total",
                "Cumulative cpu time consumed by the container in core-seconds",
                "counter"),
        CONTAINER_MEMORY(
                "container_memory_working_set_bytes", "Current working set of the container in bytes", "gauge"),
        CONTAINER_START(
                "container_start_time_seconds", "Start time of the container since unix epoch in seconds", "gauge"),
        CONTAINER_SWAP("container_swap_usage_bytes", "Current amount of the container swap usage in bytes", "gauge"),
        NODE_CPU("node_cpu_usage_seconds_total", "Cumulative cpu time consumed by the node in core-seconds", "counter"),
        NODE_MEMORY("node_memory_working_set_bytes", "Current working set of the node in bytes", "gauge"),
        NODE_SWAP("node_swap_usage_bytes", "Current swap usage of the node in bytes", "gauge"),
        POD_CPU("pod_cpu_usage_seconds_total", "Cumulative cpu time consumed by the pod in core-seconds", "counter"),
        POD_MEMORY("pod_memory_working_set_bytes", "Current working set of the pod in bytes", "gauge"),
        POD_SWAP("pod_swap_usage_bytes", "Current amount of the pod swap usage in bytes", "gauge"),
        ERROR("resource_scrape_error", "1 if there was an error while getting container metrics, 0 otherwise", "gauge");

        private final String name;
        private final String help;
        private final String type;

        Family(String name, String help, String type) {
            this.name = name;
            this.help = help;
            this.type = type;
        }
    }

    private final Map<Family, List<String>> samples = new EnumMap<>(Family.class);

    private ResourceMetrics() {}

    /**
     * The text.
     *
     * @param failed whether the newest reading of the kernel failed or is late
     */
    static String text(Snapshot values, boolean failed) {
        ResourceMetrics metrics = new ResourceMetrics();
        values.kernel().ifPresent(kernel -> metrics.kernel(values.pods(), kernel));
        metrics.lines(Family.ERROR).add(Family.ERROR.name + (failed ? " 1" : " 0"));
        return metrics.write();
    }

    private void kernel(List<RunningPod> pods, Timed<KernelReading> kernel) {
        NodeUsage node = kernel.value().node();
        add(Family.NODE_CPU, "", kernel, seconds(node.root().cpuNanos()));
        add(Family.NODE_MEMORY, "", kernel, workingSet(node.root()));
        if (node.swapTotal().isPresent() && node.swapFree().isPresent()) {
            long used = node.swapTotal().getAsLong() - node.swapFree().getAsLong();
            add(Family.NODE_SWAP, "", kernel, Optional.of(Long.toString(used)));
        }
        for (RunningPod pod : pods) {
            String labels = "pod=\"" + escaped(pod.name()) + "\",namespace=\"" + escaped(pod.namespace()) + "\"";
            CgroupUsage used = Summary.podUsage(kernel, pod).value();
            add(Family.POD_CPU, labels, kernel, seconds(used.cpuNanos()));
            add(Family.POD_MEMORY, labels, kernel, workingSet(used));
            add(Family.POD_SWAP, labels, kernel, bytes(used.swapBytes()));
            pod.containers().forEach(container -> container(container, labels, kernel));
        }
    }

    private void container(RunningPod.RunningContainer container, String pod, Timed<KernelReading> kernel) {
        String labels = "container=\"" + escaped(container.name()) + "\"," + pod;
        container.startedAt().ifPresent(time -> {
            BigDecimal seconds = BigDecimal.valueOf(time.getEpochSecond()).add(BigDecimal.valueOf(time.getNano(), 9));
            lines(Family.CONTAINER_START)
                    .add(Family.CONTAINER_START.name + "{" + labels + "} "
                            + seconds.stripTrailingZeros().toPlainString());
        });
        Summary.usage(kernel, container.id()).map(Timed::value).ifPresent(used -> {
            add(Family.CONTAINER_CPU, labels, kernel, seconds(used.cpuNanos()));
            add(Family.CONTAINER_MEMORY, labels, kernel, workingSet(used));
            add(Family.CONTAINER_SWAP, labels, kernel, bytes(used.swapBytes()));
        });
    }

    private void add(Family family, String labels, Timed<?> measured, Optional<String> value) {
        value.ifPresent(number -> lines(family)
                .add(family.name + (labels.isEmpty() ? "" : "{" + labels + "}") + " " + number + " "
                        + measured.time().toEpochMilli()));
    }

    private String write() {
        StringBuilder text = new StringBuilder();
        samples.forEach((family, lines) -> {
            text.append("# HELP ").append(family.name).append(' ').append(family.help);
            text.append("\n# TYPE ").append(family.name).append(' ').append(family.type);
            text.append('\n');
            lines.forEach(line -> text.append(line).append('\n'));
        });
        return text.toString();
    }

    private List<String> lines(Family family) {
        return samples.computeIfAbsent(family, missing -> new ArrayList<>());
    }

    private static Optional<String> seconds(OptionalLong nanos) {
        return nanos.isPresent()
                ? Optional.of(BigDecimal.valueOf(nanos.getAsLong())
                        .divide(BigDecimal.valueOf(NANOS_IN_SECOND))
                        .toPlainString())
                : Optional.empty();
    }

    private static Optional<String> workingSet(CgroupUsage usage) {
        return usage.memory().map(MemoryUsage::workingSet).map(String::valueOf);
    }

    private static Optional<String> bytes(OptionalLong value) {
        return value.isPresent() ? Optional.of(Long.toString(value.getAsLong())) : Optional.empty();
    }

    /** Names of pods need no escape; a runtime could report any text. */
    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
