package io.nodekeeper.controller;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.duplicates.Duplicates;
import io.nodekeeper.controller.explain.Explanations;
import io.nodekeeper.controller.explain.NodeEvents;
import io.nodekeeper.controller.explain.ReadyChanges;
import io.nodekeeper.controller.flaps.FlapFollower;
import io.nodekeeper.controller.heartbeats.EarlyWarning;
import io.nodekeeper.controller.heartbeats.NodeChange;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.heartbeats.Sign;
import io.nodekeeper.controller.lags.HeartbeatLags;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.controller.pods.Workload;
import io.nodekeeper.controller.taints.Labels;
import io.nodekeeper.controller.taints.Tainter;
import io.nodekeeper.controller.verdicts.Judgement;
import io.nodekeeper.controller.zones.Zones;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes each change of a node, each heartbeat and each fact about a verdict to the parts of the controller that react
 * to it, in a fixed order: zones before taints, because zones permit taints; taints before pods, as in Kubernetes.
 * Confined to the loop.
 */
public final class NodeChangeDispatcher {
    private static final Logger log = LoggerFactory.getLogger(NodeChangeDispatcher.class);

    private final HeartbeatLags lags;
    private final Optional<EarlyWarning> warning;
    private final ReadyChanges readyChanges;
    private final FlapFollower flaps;
    private final Duplicates duplicates;
    private final Zones zones;
    private final Tainter tainter;
    private final Labels labels;
    private final Workload workload;
    private final Explanations explanations;
    private final NodeEvents events;
    private final ControllerMetrics metrics;
    /** Whether added and removed nodes are announced here, and not by the reference's monitor pass. */
    private final boolean announces;

    NodeChangeDispatcher(
            HeartbeatLags lags,
            Optional<EarlyWarning> warning,
            ReadyChanges readyChanges,
            FlapFollower flaps,
            Duplicates duplicates,
            Zones zones,
            Tainter tainter,
            Labels labels,
            Workload workload,
            Explanations explanations,
            NodeEvents events,
            ControllerMetrics metrics,
            boolean announces) {
        this.lags = lags;
        this.warning = warning;
        this.readyChanges = readyChanges;
        this.flaps = flaps;
        this.duplicates = duplicates;
        this.zones = zones;
        this.tainter = tainter;
        this.labels = labels;
        this.workload = workload;
        this.explanations = explanations;
        this.events = events;
        this.metrics = metrics;
        this.announces = announces;
    }

    /** Passes on a change. */
    void dispatch(NodeChange change) {
        switch (change) {
            case NodeChange.Added(NodeHealth health, Node node) -> added(health, node);
            case NodeChange.Seen(NodeHealth health, Node node, String readyBefore, boolean reported) -> {
                if (reported) {
                    readyChanges.reported(health, readyBefore, node);
                }
                flaps.changed(health, readyBefore);
                seen(health, node);
            }
            case NodeChange.Removed(NodeHealth health) -> removed(health);
            case NodeChange.NodesListing() -> zones.listing();
            case NodeChange.NodesListed() -> zones.listed();
            case NodeChange.FirstNodes(int count) -> {
                workload.nodesListed();
                log.info("following {} nodes", count);
            }
            case NodeChange.FirstLeases() -> {}
            case NodeChange.LeaseWithoutNode(String name, boolean listed) -> {
                if (listed) {
                    workload.leaseListed(name);
                } else {
                    workload.leaseSeen(name);
                }
            }
            case NodeChange.LeaseRemoved(String name) -> workload.leaseGone(name);
        }
    }

    /** Passes on a heartbeat; creates no object for an ordinary renewal. */
    void heard(NodeHealth health, Sign sign, long now) {
        // Another controller may have declared it Unknown.
        boolean wasAway = sign instanceof Sign.Returned || health.ready().equals(Condition.UNKNOWN);
        if (sign.isRenewal()
                && lags.renewed(health.name(), health.lag(), health.renewMicros(), health.gap(), wasAway, now)) {
            explanations.clockSet(health);
        }
        if (warning.isPresent()) {
            warning.get().heard(health);
        }
        if (sign instanceof Sign.Returned(long silence, boolean renewed)) {
            explanations.returned(health, silence);
        }
    }

    /** Passes on a fact about a judgement. */
    void judged(NodeHealth health, Judgement.Fact fact) {
        switch (fact) {
            case Judgement.Fact.Took(Hop hop, long nanos) -> metrics.lag(hop, nanos / 1e9);
            case Judgement.Fact.Judged(String verdict) -> metrics.verdict(verdict);
            case Judgement.Fact.Spared(JsonObject evidence) -> explanations.spared(health, evidence);
            case Judgement.Fact.Silenced silenced -> {
                metrics.detected(silenced.late() / 1e9);
                warning.ifPresent(early -> early.settled(health));
                explanations.silenced(health, silenced.wasReady(), silenced.evidence());
                if (silenced.wasReady()) {
                    workload.nodeWentSilent(health.name(), health.uid());
                    events.notReady(health.name(), health.uid());
                }
            }
            case Judgement.Fact.Postponed postponed -> {}
        }
    }

    private void added(NodeHealth health, Node node) {
        if (announces) {
            log.info("Node {} is followed (uid {})", health.name(), health.uid());
            explanations.registered(health);
            events.registered(health.name(), health.uid());
        }
        flaps.added(health, node);
        seen(health, node);
    }

    private void seen(NodeHealth health, Node node) {
        duplicates.seen(health, node);
        zones.seen(health, node);
        tainter.seen(health, node);
        labels.seen(health, node);
        workload.nodeSeen(node);
    }

    private void removed(NodeHealth health) {
        warning.ifPresent(early -> early.settled(health));
        readyChanges.gone(health);
        flaps.gone(health);
        duplicates.gone(health);
        zones.gone(health);
        labels.gone(health);
        workload.nodeGone(health.name(), health.uid());
        if (health.hasLease()) {
            workload.leaseSeen(health.name());
        }
        if (announces) {
            log.info("Node {} is gone (uid {})", health.name(), health.uid());
            explanations.removed(health);
            events.removing(health.name(), health.uid());
        }
    }
}
