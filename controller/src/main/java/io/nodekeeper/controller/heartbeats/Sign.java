package io.nodekeeper.controller.heartbeats;

/**
 * What a report shows about a node. The common results are constants, so that a renewal creates no object: a cluster of
 * 50,000 nodes renews 5,000 leases a second.
 */
public sealed interface Sign {
    /** The results without a value. */
    enum Plain implements Sign {
        /** A newer state was seen before; the report is ignored. */
        OUTDATED,
        /** No sign of life. */
        NONE,
        /** A sign of life. */
        HEARD,
        /** A sign of life: the watch delivered a renewal of the lease. */
        RENEWED
    }

    /**
     * The first sign of life since this controller declared the node Unknown.
     *
     * @param silence since the sign before, monotonic nanoseconds, including what the controller could not see
     * @param renewed whether the watch delivered a renewal of the lease
     */
    record Returned(long silence, boolean renewed) implements Sign {}

    /** Whether it is a sign of life. */
    default boolean isLife() {
        return this != Plain.NONE && this != Plain.OUTDATED;
    }

    /** Whether the watch delivered a renewal of the lease. */
    default boolean isRenewal() {
        return this == Plain.RENEWED || this instanceof Returned returned && returned.renewed();
    }
}
