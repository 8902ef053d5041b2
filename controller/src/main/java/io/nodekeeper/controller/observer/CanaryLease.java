package io.nodekeeper.controller.observer;

/** The names of the canary lease, which is in the namespace of the nodes' leases. */
public final class CanaryLease {
    /** Its name. */
    public static final String NAME = "nodekeeper-canary";
    /** The label that distinguishes it from leases of nodes; any value. */
    public static final String LABEL = "nodekeeper.io/canary";
    /** The annotation with the condition of the controller's sight, as JSON. */
    public static final String CONDITION = "nodekeeper.io/sight";

    private CanaryLease() {}
}
