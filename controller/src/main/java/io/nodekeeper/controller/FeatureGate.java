package io.nodekeeper.controller;

import java.util.Arrays;
import java.util.List;

/**
 * What this controller does better than Kubernetes' reference, each to be switched off alone with
 * {@code --feature-gates=NAME=false}: the reference's behaviour returns then. All are on by default.
 */
public enum FeatureGate {
    /** No verdict without proof that the controller sees: a canary lease, and a live look. Off: the cache is believed. */
    OBSERVER_GUARD("ObserverGuard", "no node is blamed while the controller itself cannot see"),
    /** Each node's deadline is watched by itself. Off: a pass over all nodes each monitor period. */
    WATCH_DRIVEN_DEADLINES("WatchDrivenDeadlines", "silence is noticed at its deadline, not by a pass over all nodes"),
    /** NoExecute follows the condition as it is. Off: as it was before this pass, one pass late. */
    IMMEDIATE_NO_EXECUTE("ImmediateNoExecute", "NoExecute taints follow the verdict at once, not one pass later"),
    /** Pods are marked NotReady for what their node is. Off: only at this controller's own True to Unknown. */
    LEVEL_POD_MARKING("LevelPodMarking", "pods of nodes that are not ready are marked, whoever found out and when"),
    /** Evictions fire at {@code timeAdded} of the taint plus the toleration. Off: counted from when it was noticed. */
    TIME_ADDED_EVICTION("TimeAddedEviction", "restarts and failovers do not begin tolerations anew"),
    /** Pod deletions carry the UID and are repeated until done. Off: five tries in 40 ms. */
    DURABLE_EVICTION("DurableEviction", "pod deletions name the pod's UID and are repeated until done"),
    /** A start leaves NoExecute taints as they are. Off: all are taken off and come back at the eviction rate. */
    KEEP_TAINTS("KeepTaints", "a restart does not take NoExecute taints off dead nodes"),
    /** What is known of a node dies with its UID. Off: a new node of that name inherits it. */
    STATE_BY_UID("StateByUid", "a recreated node does not inherit its predecessor's silence"),
    /** Zone disruption without queue races and resets. Off: as the reference does it. */
    FAIR_DISRUPTION("FairDisruption", "zone disruption neither restarts graces nor spends tokens on nothing"),
    /** Any change of a lease is a sign of life. Off: only a later renewTime. */
    CLOCK_IMMUNITY("ClockImmunity", "a renewal counts whatever the node's clock says"),
    /** One PATCH a node for all of its taints. Off: one to add and one to remove. */
    SINGLE_TAINT_PATCH("SingleTaintPatch", "taints are swapped in one write"),
    /** Leases of nodes that are gone are deleted. Off: they stay. */
    ORPHAN_LEASES("OrphanLeases", "leases of nodes that no longer exist are deleted"),
    /** Nodes that are later than they use to be are reported before their grace ends. Off: nothing is said. */
    EARLY_WARNING("EarlyWarning", "nodes that are unusually late are reported before their grace ends"),
    /** Nodes that flap keep their taints for a while. Off: taints follow conditions at once. */
    FLAP_DAMPING("FlapDamping", "nodes that flap keep their taints until they are calm"),
    /** A record of each verdict and its causes. Off: the log alone. */
    EXPLAIN_VERDICTS("ExplainVerdicts", "every verdict leaves a record of its causes");

    private final String text;
    private final String purpose;

    FeatureGate(String text, String purpose) {
        this.text = text;
        this.purpose = purpose;
    }

    /** Its name in {@code --feature-gates}. */
    public String text() {
        return text;
    }

    /** What it is good for, for people. */
    public String purpose() {
        return purpose;
    }

    /** The names of all. */
    public static List<String> names() {
        return Arrays.stream(values()).map(FeatureGate::text).toList();
    }
}
