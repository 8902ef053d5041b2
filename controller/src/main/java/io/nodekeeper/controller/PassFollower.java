package io.nodekeeper.controller;

import io.nodekeeper.api.Node;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What follows from a {@link MonitorPass} besides the status that it writes: zones, NoExecute taints, pods. Called on the loop. */
interface PassFollower {
    /** Nothing follows. */
    PassFollower NONE = new PassFollower() {
        @Override
        public void stripNoExecute(Node node) {}

        @Override
        public void judged(Node node, String observedReady, String currentReady) {}

        @Override
        public void passEnded() {}

        @Override
        public CompletionStage<Boolean> markPods(String name) {
            return CompletableFuture.completedStage(true);
        }
    };

    /**
     * The controller has not known {@code node} before this pass: its NoExecute taints of our keys go, from the node and
     * from what waits in the queues, even if it is down. Not called while the gate KeepTaints is open.
     */
    void stripNoExecute(Node node);

    /**
     * A node was evaluated. One whose evaluation failed is left out of the pass and not heard of here.
     *
     * @param node as it is now, with what was written to it in this pass
     * @param observedReady the status of its Ready condition before this pass touched it: {@code Unknown} if it had none
     * @param currentReady the same after; empty if it has none, in which case nothing but its zone is concerned
     */
    void judged(Node node, String observedReady, String currentReady);

    /** All nodes of the pass were judged. */
    void passEnded();

    /**
     * The pods of the node are to be marked NotReady. False or a failure if that has to be done again in the next pass,
     * should the node not be Ready then.
     */
    CompletionStage<Boolean> markPods(String name);
}
