package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;

/** Takes in states of nodes and leases that were read or written by this controller. Called on the loop. */
public interface NodeStates {
    /** A state of a followed node was seen. */
    void saw(NodeHealth health, Node node, Heartbeats.Source source);

    /** A state of a node's lease was seen. */
    void saw(Lease lease, Heartbeats.Source source);
}
