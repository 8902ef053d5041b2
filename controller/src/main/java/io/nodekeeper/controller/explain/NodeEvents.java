package io.nodekeeper.controller.explain;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.events.ObjectRef;
import io.nodekeeper.controller.observer.CanaryLease;

/** Emits the controller's events about nodes, with Kubernetes' texts. Confined to the loop. */
public final class NodeEvents {
    private static final ObjectRef CANARY = new ObjectRef(
            ResourceType.LEASES.apiVersion(), ResourceType.LEASES.kind(), Lease.NODE_NAMESPACE, CanaryLease.NAME, "");

    private final EventRecorder recorder;

    public NodeEvents(EventRecorder recorder) {
        this.recorder = recorder;
    }

    /** This process sees the node for the first time. */
    public void registered(String name, String uid) {
        record(name, uid, "RegisteredNode", "Node " + name + " event: Registered Node " + name + " in Controller");
    }

    /** The node object was deleted. */
    public void removing(String name, String uid) {
        record(name, uid, "RemovingNode", "Node " + name + " event: Removing Node " + name + " from Controller");
    }

    /** This controller declared a Ready node Unknown. */
    public void notReady(String name, String uid) {
        record(name, uid, "NodeNotReady", "Node " + name + " status is now: NodeNotReady");
    }

    /** The node is later than usual. */
    public void suspect(String name, String uid, String message) {
        recorder.record(node(name, uid), EventRecorder.WARNING, "Suspect", message);
    }

    /** Two machines report under the node's name. */
    public void duplicate(String name, String uid, String message) {
        recorder.record(node(name, uid), EventRecorder.WARNING, "DuplicateNode", message);
    }

    /** One machine reports under the node's name again. */
    public void duplicateEnded(String name, String uid, String message) {
        recorder.record(node(name, uid), EventRecorder.NORMAL, "DuplicateNodeEnded", message);
    }

    /** The node flaps, and its taints are kept for a while; {@code reason} is that of its condition. */
    public void damped(String name, String uid, String reason, String message) {
        recorder.record(node(name, uid), EventRecorder.WARNING, reason, message);
    }

    /** Its taints follow its conditions again; {@code reason} is that of its condition. */
    public void dampingEnded(String name, String uid, String reason, String message) {
        recorder.record(node(name, uid), EventRecorder.NORMAL, reason, message);
    }

    /** The controller has no sight, so it gives no verdicts. */
    void blind(String message) {
        recorder.record(CANARY, EventRecorder.WARNING, "ObserverBlind", message);
    }

    /** Verdicts use another proof than usual. */
    void degraded(String message) {
        recorder.record(CANARY, EventRecorder.WARNING, "JudgementDegraded", message);
    }

    /** The controller has sight again. */
    void sees(String message) {
        recorder.record(CANARY, EventRecorder.NORMAL, "ObserverSees", message);
    }

    private void record(String name, String uid, String reason, String message) {
        recorder.record(node(name, uid), EventRecorder.NORMAL, reason, message);
    }

    private static ObjectRef node(String name, String uid) {
        return new ObjectRef("v1", "Node", "", name, uid);
    }
}
