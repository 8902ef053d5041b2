package io.nodekeeper.controller;

import io.nodekeeper.api.Node;

/**
 * Decides when which node may get a NoExecute taint, by zones: so many a second in each, fewer or none where so much is
 * down that it is probably not about the nodes. Confined to the loop.
 */
interface Zones extends NoExecute.Rules {
    /** This is the newest state of a known node. */
    void seen(NodeHealth health, Node node);

    /** The node is gone, or another node has its name now. */
    void gone(NodeHealth health);

    /** A list of nodes is about to be seen: what follows from single ones waits for {@link #listed}. */
    void listing();

    /** All of the list was seen. */
    void listed();

    /**
     * In a pass over all nodes: this one was judged.
     *
     * @param observedReady the status of its Ready condition before this pass changed it; empty if there was none
     * @param currentReady the same after it; empty if there is none
     */
    void judged(NodeHealth health, Node node, String observedReady, String currentReady);

    /** In a pass over all nodes: all were judged. */
    void passEnded();

    /** Does nothing more. */
    void stop();
}
