package io.nodekeeper.controller.flaps;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.explain.Explanations;
import io.nodekeeper.controller.explain.NodeEvents;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Clock;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts flaps and damps no node, as the gate is off. It says so in the condition of those that a predecessor damped; it
 * would stay True otherwise. Confined to the loop.
 */
public final class NoDamping implements FlapFollower {
    private static final Logger log = LoggerFactory.getLogger(NoDamping.class);

    private final Clock clock;
    private final FlapConditions conditions;
    private final Explanations explanations;
    private final NodeEvents events;
    private final ControllerMetrics metrics;

    public NoDamping(
            KubeClient client,
            PriorityWorkQueue workQueue,
            Heartbeats heartbeats,
            Explanations explanations,
            NodeEvents events,
            ControllerMetrics metrics) {
        this.clock = client.loop().clock();
        this.conditions = new FlapConditions(client, workQueue, heartbeats);
        this.explanations = explanations;
        this.events = events;
        this.metrics = metrics;
    }

    @Override
    public void changed(NodeHealth health, String before) {
        if (FlapDamping.isFall(before, health.ready())) {
            metrics.flapped();
        }
    }

    @Override
    public void added(NodeHealth health, Node node) {
        if (FlapReport.of(node).isEmpty()) {
            return;
        }
        Instant now = clock.wallTime();
        Condition ended = Condition.of(
                FlapReport.TYPE,
                Condition.FALSE,
                FlapReport.ENDED,
                "flap damping is switched off; taints follow Ready as usual",
                now,
                now);
        log.info("Node {} is no longer damped: {}", health.name(), ended.message());
        explanations.damping(health, ended);
        events.dampingEnded(health.name(), health.uid(), ended.reason(), ended.message());
        conditions.write(health, () -> ended, written -> {});
    }
}
