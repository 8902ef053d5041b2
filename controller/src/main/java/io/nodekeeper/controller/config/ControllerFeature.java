package io.nodekeeper.controller.config;

import java.util.Arrays;
import java.util.List;

/**
 * The improvements of this controller over Kubernetes' reference. {@code --feature-gates=NAME=false} disables one of
 * them, which restores the reference's behaviour. All are enabled by default.
 */
public enum ControllerFeature {
    /**
     * No verdict without proof that the controller sees: a canary lease, and a live read. Off: the cache is trusted.
     */
    OBSERVER_GUARD("ObserverGuard", "no node becomes Unknown while the controller itself has no sight"),
    /** Each node has its own deadline. Off: a pass over all nodes each monitor period. */
    WATCH_DRIVEN_DEADLINES(
            "WatchDrivenDeadlines", "each node is checked at its deadline, not by a pass over all nodes"),
    /** NoExecute taints follow the current condition. Off: the condition before this pass, one pass late. */
    IMMEDIATE_NO_EXECUTE("ImmediateNoExecute", "NoExecute taints follow the verdict immediately, not one pass later"),
    /**
     * Pods are marked NotReady according to their node's state. Off: only when this controller changes Ready from True
     * to Unknown.
     */
    LEVEL_POD_MARKING(
            "LevelPodMarking", "pods of nodes that are not ready are marked, whichever component set the condition"),
    /**
     * Evictions fire at {@code timeAdded} of the taint plus the toleration. Off: counted from when this controller saw
     * the taint.
     */
    TIME_ADDED_EVICTION("TimeAddedEviction", "restarts and failovers do not restart toleration times"),
    /** Pod deletions carry the UID and are repeated until done. Off: five tries in 40 ms. */
    DURABLE_EVICTION("DurableEviction", "pod deletions name the pod's UID and are repeated until done"),
    /** A start leaves NoExecute taints as they are. Off: all are removed and added again at the eviction rate. */
    KEEP_TAINTS("KeepTaints", "a restart does not remove NoExecute taints from failed nodes"),
    /** The state of a node belongs to its UID. Off: a new node of that name inherits it. */
    STATE_BY_UID("StateByUid", "a recreated node does not inherit its predecessor's last heartbeat"),
    /** Zone disruption without queue races and resets. Off: as the reference does it. */
    FAIR_DISRUPTION("FairDisruption", "zone disruption neither restarts grace periods nor wastes tokens"),
    /** Any renewal of a lease is a heartbeat. Off: only a later renewTime. */
    CLOCK_IMMUNITY("ClockImmunity", "a renewal counts even if the node's clock is wrong"),
    /** One PATCH per node for all its taints. Off: one to add and one to remove. */
    SINGLE_TAINT_PATCH("SingleTaintPatch", "taints are added and removed in one write"),
    /** Leases of deleted nodes are deleted. Off: they stay. */
    ORPHAN_LEASES("OrphanLeases", "leases of nodes that no longer exist are deleted"),
    /** Nodes that are later than usual are reported before their grace period ends. Off: they are not reported. */
    EARLY_WARNING("EarlyWarning", "nodes that are later than usual are reported before their grace period ends"),
    /** Nodes that flap keep their taints for a while. Off: taints follow conditions immediately. */
    FLAP_DAMPING("FlapDamping", "nodes that flap keep their taints until they are stable"),
    /** The history records each verdict and its causes. Off: only the log does. */
    EXPLAIN_VERDICTS("ExplainVerdicts", "the history records the causes of every verdict");

    private final String text;
    private final String purpose;

    ControllerFeature(String text, String purpose) {
        this.text = text;
        this.purpose = purpose;
    }

    /** Its name in {@code --feature-gates}. */
    public String text() {
        return text;
    }

    /** Its purpose, for people. */
    public String purpose() {
        return purpose;
    }

    /** The names of all gates. */
    public static List<String> names() {
        return Arrays.stream(values()).map(ControllerFeature::text).toList();
    }
}
