package io.nodekeeper.controller.metrics;

import java.util.Locale;

/** A stretch of the way from a node's heartbeat to what is written about the node. */
public enum Hop {
    /** From the node's own stamp to the API server's; the two machines' clocks are compared, so skew is part of it. */
    NODE_TO_API,
    /** From the API server to this controller, through the watch. */
    API_TO_CONTROLLER,
    /** From a node's deadline to the verdict. */
    DEADLINE_TO_DECISION,
    /** From the verdict to the API server's answer that it is written. */
    DECISION_TO_WRITE;

    /** The value of the label {@code hop}: its name in lower case. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
