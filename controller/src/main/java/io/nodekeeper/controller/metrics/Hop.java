package io.nodekeeper.controller.metrics;

import java.util.Locale;

/** A hop on the way from a node's heartbeat to the write about the node. */
public enum Hop {
    /**
     * A renewal from the node to this controller, beyond the time of this node's fastest renewal, so that the clock
     * skew cancels out.
     */
    NODE_TO_CONTROLLER,
    /** A canary from this controller to the API server's answer that it is stored. */
    CANARY_WRITE,
    /** A canary from this controller through the API server, its store and the watch back to this controller. */
    CANARY_ROUND_TRIP,
    /** From a node's deadline to the verdict. */
    DEADLINE_TO_DECISION,
    /** From the verdict to the API server's answer that it is written. */
    DECISION_TO_WRITE;

    /** The value of the label {@code hop}: its name in lower case. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
