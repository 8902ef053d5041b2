package io.nodekeeper.controller.flaps;

import io.nodekeeper.api.Node;
import io.nodekeeper.controller.heartbeats.NodeHealth;

/** Follows all nodes, to count and damp those that flap, or to end an earlier damping. Confined to the loop. */
public interface FlapFollower {
    /** A node was seen for the first time; perhaps a predecessor damped it. */
    void added(NodeHealth health, Node node);

    /** The status of the node's Ready condition was {@code before}. */
    void changed(NodeHealth health, String before);

    /** The node object is gone. */
    default void gone(NodeHealth health) {}
}
