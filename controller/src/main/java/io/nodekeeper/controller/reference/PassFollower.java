package io.nodekeeper.controller.reference;

import io.nodekeeper.api.Node;

/**
 * Receives the results of a {@link MonitorPass} other than the status that it writes: for zones and pods. Called on the
 * loop. The zones themselves remove NoExecute taints at a start, if the gate KeepTaints is disabled.
 */
interface PassFollower {
    /**
     * A node was evaluated. Not called for a node whose evaluation failed.
     *
     * @param node its current state, including what this pass wrote
     * @param observedReady the status of its Ready condition before this pass touched it: {@code Unknown} if it had
     *     none
     * @param currentReady the same after; empty if it has none, in which case only its zone is affected
     */
    void judged(Node node, String observedReady, String currentReady);

    /** All nodes of the pass were judged. */
    void passEnded();

    /** The node is no longer Ready: its pods must become NotReady. */
    void nodeWentSilent(String name);
}
