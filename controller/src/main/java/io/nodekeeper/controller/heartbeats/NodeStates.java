package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;

/** Receives states of nodes and leases that this controller has read or written. Called on the loop. */
public interface NodeStates {
    /** A state of a known node was seen. */
    void saw(NodeHealth health, Node node, Heartbeats.Source source);

    /** A state of a node's lease was seen. */
    void saw(Lease lease, Heartbeats.Source source);
}
