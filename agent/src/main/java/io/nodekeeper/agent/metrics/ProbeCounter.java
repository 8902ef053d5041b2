package io.nodekeeper.agent.metrics;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.ProbeKind;
import io.nodekeeper.agent.pods.probes.ProbeMetrics;
import io.nodekeeper.agent.pods.probes.ProbeResult;
import io.prometheus.metrics.core.metrics.Counter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Counts probes by container, kind and result, under the kubelet's names, while their pod is there. Confined to its loop. */
final class ProbeCounter implements ProbeMetrics {
    private final Counter probes;
    /** The labels of what was counted, by the UID of its pod. A pod that is gone may come without its containers. */
    private final Map<String, Set<List<String>>> counted = new HashMap<>();

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
        List<String> labels = List.of(kind.text(), result, container, pod.name(), pod.namespace(), pod.uid());
        counted.computeIfAbsent(pod.uid(), uid -> new HashSet<>()).add(labels);
        probes.labelValues(labels.toArray(String[]::new)).inc();
    }

    @Override
    public void forget(Pod pod) {
        Set<List<String>> gone = counted.remove(pod.uid());
        if (gone != null) {
            gone.forEach(labels -> probes.remove(labels.toArray(String[]::new)));
        }
    }
}
