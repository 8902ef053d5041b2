package io.nodekeeper.controller.reference;

import io.nodekeeper.api.Node;
import java.util.concurrent.CompletionStage;

/**
 * Receives the results of a {@link MonitorPass} other than the status that it writes: for zones, NoExecute taints and
 * pods. Called on the loop.
 */
interface PassFollower {
    /**
     * The controller did not know {@code node} before this pass. Removes its NoExecute taints of our keys, from the
     * node and from the queues, even if the node is down. Not called if the gate KeepTaints is enabled.
     */
    void stripNoExecute(Node node);

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

    /**
     * Marks the pods of the node NotReady. False or a failure if the next pass must retry, unless the node is Ready
     * then.
     */
    CompletionStage<Boolean> markPods(String name);
}
