package io.nodekeeper.controller;

import io.nodekeeper.time.DeadlineWheel;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered of one node between its heartbeats: a few short strings and numbers, never the Node itself, as there
 * may be many thousands. It may exist for a lease alone, whose node is not known yet. Confined to the loop.
 */
final class NodeHealth {
    /** Where a sign of life was seen. */
    enum Signal {
        /** None yet: time counts from the first sight of the node. */
        FIRST_SIGHT("first sight"),
        /** {@code renewTime} or the version of its Lease changed. */
        LEASE("lease"),
        /** The heartbeat or the value of its Ready condition changed. */
        STATUS("status");

        private final String text;

        Signal(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    final String name;
    final DeadlineWheel.Deadline<NodeHealth> deadline = new DeadlineWheel.Deadline<>(this);

    /** The node that all this belongs to; empty while only its lease is known. A new node of that name starts afresh. */
    String uid = "";
    /** The newest version of the node that was seen. */
    String version = "";

    boolean hasLease;
    String renewTime = "";
    String leaseVersion = "";

    /** The status of its Ready condition; empty if it has none, as long as the agent never reported. */
    String ready = "";

    String readyHeartbeat = "";

    Signal signal = Signal.FIRST_SIGHT;
    /** When {@link #signal} was seen, by the controller's monotonic clock. */
    long heardAt;
    /** Whether this controller declared it Unknown and has not heard of it since. */
    boolean silenced;
    /** Whether its deadline has passed and is being looked into. */
    boolean judging;

    Tainter.@Nullable Work taintWork;
    /** What its zone knows of it. */
    @Nullable
    ZoneMember zone;

    NodeHealth(String name) {
        this.name = name;
    }

    /** Whether the node object is there. */
    boolean known() {
        return !uid.isEmpty();
    }

    /** Whether its agent ever posted a status. */
    boolean reported() {
        return !ready.isEmpty();
    }
}
