package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.Node;
import io.nodekeeper.controller.NodeChangeDispatcher;

/**
 * A change of nodes or leases, as lists, watches, reads and writes show it. {@link NodeInformer} makes these values and
 * {@link NodeChangeDispatcher} hands each one on. A sign of life is no such value, see {@link Sign}.
 */
public sealed interface NodeChange {
    /** All leases were listed for the first time. */
    record FirstLeases() implements NodeChange {}

    /**
     * There is a lease whose node is not known.
     *
     * @param listed whether a list of all leases or all nodes showed that; else a watch reported the lease just now
     */
    record LeaseWithoutNode(String name, boolean listed) implements NodeChange {}

    /** A lease was deleted. */
    record LeaseRemoved(String name) implements NodeChange {}

    /** A list of all nodes begins; the changes up to {@link NodesListed} come from it. */
    record NodesListing() implements NodeChange {}

    /** The end of a list of all nodes. */
    record NodesListed() implements NodeChange {}

    /** The first list of all nodes has ended; {@code count} nodes are followed. */
    record FirstNodes(int count) implements NodeChange {}

    /** A node is followed from now on. */
    record Added(NodeHealth health, Node node) implements NodeChange {}

    /**
     * This is the newest state of a followed node, whether it was listed, watched, read or written here.
     *
     * @param readyBefore the status of its Ready condition in the state before
     */
    record Seen(NodeHealth health, Node node, String readyBefore) implements NodeChange {}

    /** A node was deleted, or another node has its name now. */
    record Removed(NodeHealth health) implements NodeChange {}
}
