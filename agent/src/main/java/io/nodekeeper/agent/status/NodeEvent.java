package io.nodekeeper.agent.status;

import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.events.ObjectRef;

/** An event about the node, sent once the change that it reports has reached the API. */
public record NodeEvent(String type, String reason, String message) {

    /** The usual form: a status of the node. */
    static NodeEvent status(String nodeName, String reason) {
        return new NodeEvent(EventRecorder.NORMAL, reason, "Node " + nodeName + " status is now: " + reason);
    }

    /**
     * Sends the event. Its UID is the node's name, as in Kubernetes up to 1.32 and as {@code kubectl describe}
     * expects.
     */
    public void record(EventRecorder recorder, String nodeName) {
        recorder.record(new ObjectRef("", "Node", "", nodeName, nodeName), type, reason, message);
    }
}
