package io.nodekeeper.controller.heartbeats;

/**
 * The result of processing a state of a node or lease. The common results are constants, so that a renewal creates no
 * object: a cluster of 50,000 nodes renews 5,000 leases per second.
 */
public sealed interface Sign {
    /** The results without a value. */
    enum Plain implements Sign {
        /** A newer state was seen before; this one is ignored. */
        OUTDATED,
        /** No heartbeat. */
        NONE,
        /** A heartbeat. */
        HEARD,
        /** A heartbeat: the watch delivered a renewal of the lease. */
        RENEWED
    }

    /**
     * The first heartbeat since this controller declared the node Unknown.
     *
     * @param silence the time since the last heartbeat, monotonic nanoseconds, including time of blindness
     * @param renewed whether the watch delivered a renewal of the lease
     */
    record Returned(long silence, boolean renewed) implements Sign {}

    /** Whether it is a heartbeat. */
    default boolean isLife() {
        return this != Plain.NONE && this != Plain.OUTDATED;
    }

    /** Whether the watch delivered a renewal of the lease. */
    default boolean isRenewal() {
        return this == Plain.RENEWED || this instanceof Returned returned && returned.renewed();
    }
}
