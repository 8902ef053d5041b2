package io.nodekeeper.controller;

/** The names of the canary lease, which lies among the leases of nodes. */
final class CanaryLease {
    /** Its name. */
    static final String NAME = "nodekeeper-canary";
    /** Tells it from the leases of nodes; any value. */
    static final String LABEL = "nodekeeper.io/canary";
    /** The annotation with the condition of the controller's sight, as JSON. */
    static final String CONDITION = "nodekeeper.io/sight";

    private CanaryLease() {}
}
