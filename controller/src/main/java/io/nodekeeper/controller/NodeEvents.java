package io.nodekeeper.controller;

import io.nodekeeper.client.EventRecorder;
import io.nodekeeper.client.ObjectRef;

/** What the controller tells people about nodes, in Kubernetes' words. Confined to the loop. */
final class NodeEvents {
    private final EventRecorder recorder;

    NodeEvents(EventRecorder recorder) {
        this.recorder = recorder;
    }

    /** This process sees the node for the first time. */
    void registered(String name, String uid) {
        record(name, uid, "RegisteredNode", "Node " + name + " event: Registered Node " + name + " in Controller");
    }

    /** The node object is gone. */
    void removing(String name, String uid) {
        record(name, uid, "RemovingNode", "Node " + name + " event: Removing Node " + name + " from Controller");
    }

    /** This controller declared a node Unknown that was Ready. */
    void notReady(String name, String uid) {
        record(name, uid, "NodeNotReady", "Node " + name + " status is now: NodeNotReady");
    }

    private void record(String name, String uid, String reason, String message) {
        recorder.record(new ObjectRef("v1", "Node", "", name, uid), EventRecorder.NORMAL, reason, message);
    }
}
