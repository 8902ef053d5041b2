package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.Node;
import io.nodekeeper.controller.NodeChangeDispatcher;

/**
 * A change of nodes or leases in lists, watches, reads and writes. {@link NodeInformer} creates these values and {@link
 * NodeChangeDispatcher} passes them on. Heartbeats are not among them, see {@link Sign}.
 */
public sealed interface NodeChange {
    /** All leases were listed for the first time. */
    record FirstLeases() implements NodeChange {}

    /**
     * A lease without a known node.
     *
     * @param listed whether it was found in a list; if not, a watch has just delivered it
     */
    record LeaseWithoutNode(String name, boolean listed) implements NodeChange {}

    /** A lease was deleted. */
    record LeaseRemoved(String name) implements NodeChange {}

    /** A list of all nodes begins; the changes up to {@link NodesListed} come from it. */
    record NodesListing() implements NodeChange {}

    /** The end of a list of all nodes. */
    record NodesListed() implements NodeChange {}

    /** The first list of all nodes has ended, with {@code count} nodes. */
    record FirstNodes(int count) implements NodeChange {}

    /** A node was added. */
    record Added(NodeHealth health, Node node) implements NodeChange {}

    /**
     * The newest state of a known node, from a list, a watch, a read or a write.
     *
     * @param readyBefore the status of its Ready condition in the state before
     * @param reported whether its agent has sent a heartbeat with it, and not only another client has changed the node
     */
    record Seen(NodeHealth health, Node node, String readyBefore, boolean reported) implements NodeChange {}

    /** A node was deleted, or another node has its name now. */
    record Removed(NodeHealth health) implements NodeChange {}
}
