package io.nodekeeper.controller.pods;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.events.ObjectRef;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.time.Clock;
import java.util.function.Function;

/** Reports actions on pods: events with Kubernetes' texts, and decisions for the history. Confined to the loop. */
final class PodReport {
    private final EventRecorder nodeController;
    private final EventRecorder taintEviction;
    private final History history;
    private final Clock clock;

    PodReport(Function<String, EventRecorder> recorders, History history, Clock clock) {
        this.nodeController = recorders.apply("node-controller");
        this.taintEviction = recorders.apply("taint-eviction-controller");
        this.history = history;
        this.clock = clock;
    }

    /** The pod was marked because its node is not ready. */
    void notReady(TrackedPod pod) {
        nodeController.record(pod.reference(), EventRecorder.WARNING, "NodeNotReady", "Node is not ready");
    }

    /** The pod's eviction begins. */
    void marking(TrackedPod pod) {
        eviction(pod, "Marking for deletion Pod " + pod);
    }

    /** The pod's planned eviction was cancelled. */
    void cancelling(TrackedPod pod) {
        eviction(pod, "Cancelling deletion of Pod " + pod);
        decided(pod, "EvictionCancelled", "Pod " + pod + " may stay on node " + pod.node, JsonObject.EMPTY);
    }

    private void eviction(TrackedPod pod, String message) {
        ObjectRef about = new ObjectRef("v1", "Pod", pod.namespace, pod.name, "");
        taintEviction.record(about, EventRecorder.NORMAL, "TaintManagerEviction", message);
    }

    /** Stores a decision about a pod; if it has no node, under its own UID. */
    void decided(TrackedPod pod, String kind, String text, JsonObject details) {
        JsonObject all = details.with("pod", pod.toString()).with("podUid", pod.uid);
        String node = pod.node.name;
        decided(node, node.isEmpty() ? pod.uid : pod.node.uid, kind, text, all);
    }

    /** Stores a decision about an object of a node. */
    void decided(String node, String uid, String kind, String text, JsonObject details) {
        history.add(new Decision(clock.wallTime(), node, uid, kind, text, details));
    }
}
