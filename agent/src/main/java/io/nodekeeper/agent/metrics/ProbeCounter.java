package io.nodekeeper.agent.metrics;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.ProbeKind;
import io.nodekeeper.agent.pods.probes.ProbeMetrics;
import io.nodekeeper.agent.pods.probes.ProbeResult;
import io.prometheus.metrics.core.metrics.Counter;
import java.util.List;

/** Counts probes by container, kind and result, under the kubelet's names, while their pod is there. Thread-safe. */
final class ProbeCounter implements ProbeMetrics {
    private static final List<String> RESULTS = List.of("successful", "failed", "unknown");

    private final Counter probes;

    ProbeCounter(MetricFactory make) {
        probes = make.counter(
                "prober_probe_total",
                "Probes of a container by their result.",
                "probe_type",
                "result",
                "container",
                "pod",
                "namespace",
                "pod_uid");
    }

    @Override
    public void probed(Pod pod, String container, ProbeKind kind, ProbeResult.Outcome outcome) {
        String result = switch (outcome) {
            case SUCCESS, WARNING -> "successful";
            case FAILURE -> "failed";
            case ERROR -> "unknown";
        };
        probes.labelValues(labels(pod, container, kind, result)).inc();
    }

    @Override
    public void forget(Pod pod) {
        for (ContainerSpec container : pod.allContainers()) {
            for (ProbeKind kind : ProbeKind.values()) {
                RESULTS.forEach(result -> probes.remove(labels(pod, container.name(), kind, result)));
            }
        }
    }

    private static String[] labels(Pod pod, String container, ProbeKind kind, String result) {
        return new String[] {kind.text(), result, container, pod.name(), pod.namespace(), pod.uid()};
    }
}
