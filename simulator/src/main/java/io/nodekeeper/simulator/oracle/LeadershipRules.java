package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Lease;

/**
 * Checks that of several controllers only the holder of the lock writes. Writes that a leader sent before it lost the
 * lock may arrive later, so writes are checked when they are sent. Confined to virtual time.
 */
final class LeadershipRules {
    private final Scales scales;
    private String holder = "";

    LeadershipRules(Scales scales) {
        this.scales = scales;
    }

    /** The lock has changed. */
    void lock(Lease lock) {
        if (!lock.holderIdentity().equals(holder)) {
            holder = lock.holderIdentity();
            scales.trace("lock", holder.isEmpty() ? "is free" : "is held by " + holder);
        }
    }

    /** A candidate sends a write that is not about the lock. */
    void writes(String identity, String call) {
        if (!identity.equals(holder)) {
            scales.violated(
                    Rule.SECOND_LEADER, identity, "sends " + call + " while the lock is held by \"" + holder + "\"");
        }
    }
}
