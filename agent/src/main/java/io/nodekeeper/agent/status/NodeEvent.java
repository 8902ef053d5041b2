package io.nodekeeper.agent.status;

import io.nodekeeper.client.EventRecorder;
import io.nodekeeper.client.ObjectRef;

/** An event about the node that is told once what it speaks of has reached the API. */
public record NodeEvent(String type, String reason, String message) {

    /** The usual form: a status of the node. */
    static NodeEvent status(String nodeName, String reason) {
        return new NodeEvent(EventRecorder.NORMAL, reason, "Node " + nodeName + " status is now: " + reason);
    }

    /** Tells it. The UID is the node's name, as Kubernetes to 1.32 has it and as {@code kubectl describe} asks for. */
    public void record(EventRecorder recorder, String nodeName) {
        recorder.record(new ObjectRef("", "Node", "", nodeName, nodeName), type, reason, message);
    }
}
