package io.nodekeeper.agent.runtime;

import io.nodekeeper.agent.culprit.CulpritListener;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.metrics.CulpritKey;
import io.nodekeeper.agent.status.NodeEvent;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.events.ObjectRef;
import java.util.HashMap;
import java.util.Map;

/**
 * Reports culprits: as events on the node and on the affected pod, and as a metric. A load is no failure, so its event is
 * no warning and its metric is another one. Confined to its loop.
 */
public final class CulpritReporter implements CulpritListener {
    private final String nodeName;
    private final EventRecorder events;
    private final AgentMetrics metrics;
    private final Map<CulpritKey, Integer> counts = new HashMap<>();
    private final Map<String, Integer> loads = new HashMap<>();

    /** Reports culprits on the node {@code nodeName}. */
    public CulpritReporter(String nodeName, EventRecorder events, AgentMetrics metrics) {
        this.nodeName = nodeName;
        this.events = events;
        this.metrics = metrics;
    }

    @Override
    public void found(Culprit culprit) {
        String message = culprit.summary() + "; remedy: " + culprit.remedy().text();
        String type = culprit.isLoad() ? EventRecorder.NORMAL : EventRecorder.WARNING;
        new NodeEvent(type, culprit.reason(), message).record(events, nodeName);
        culprit.pod()
                .filter(pod -> !pod.name().isEmpty())
                .ifPresent(pod -> events.record(
                        new ObjectRef("v1", "Pod", pod.namespace(), pod.name(), pod.uid()),
                        type,
                        culprit.reason(),
                        message));
        count(culprit, 1);
    }

    @Override
    public void cleared(Culprit culprit) {
        new NodeEvent(EventRecorder.NORMAL, culprit.reason() + "Cleared", "resolved: " + culprit.summary())
                .record(events, nodeName);
        count(culprit, -1);
    }

    private void count(Culprit culprit, int change) {
        if (culprit.isLoad()) {
            count(loads, culprit.reason(), change);
            metrics.loads(loads);
        } else {
            count(counts, new CulpritKey(culprit.layer().text(), culprit.reason()), change);
            metrics.culprits(counts);
        }
    }

    private static <K> void count(Map<K, Integer> counts, K key, int change) {
        counts.merge(key, change, Integer::sum);
        counts.values().removeIf(count -> count <= 0);
    }
}
