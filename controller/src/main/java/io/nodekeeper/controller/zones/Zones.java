package io.nodekeeper.controller.zones;

import io.nodekeeper.api.Node;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.taints.NoExecute;
import java.util.Map;
import java.util.Optional;

/**
 * Decides when each node may get a NoExecute taint. Limits the rate per zone, and lowers it or stops where so many
 * nodes are not ready that the cause is probably not in the nodes. Confined to the loop.
 */
public interface Zones extends NoExecute.Rules {
    /** This is the newest state of a known node. */
    void seen(NodeHealth health, Node node);

    /** The node is gone, or another node has its name now. */
    void gone(NodeHealth health);

    /** The nodes of a list follow; decisions wait for {@link #listed}. */
    void listing();

    /** The list is complete. */
    void listed();

    /**
     * In a pass over all nodes: this one was evaluated.
     *
     * @param observedReady the status of its Ready condition before this pass changed it; empty if there was none
     * @param currentReady the same after it; empty if there is none
     */
    void judged(NodeHealth health, Node node, String observedReady, String currentReady);

    /** In a pass over all nodes: all were evaluated. */
    void passEnded();

    /** The newest state of that node which counts for its zone; empty if the node is unknown. */
    Optional<ZoneNode> node(NodeHealth health);

    /** The number of entries of what grows with zones, by name. */
    default Map<String, Integer> sizes() {
        return Map.of();
    }

    /** Stops all actions. */
    void stop();
}
