package io.nodekeeper.controller;

import io.nodekeeper.client.scan.LeaseLine;
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
        /** {@code renewTime} of its Lease changed, and the node holds it. */
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

    /** Where a known node stands on the way to a verdict: in exactly one of these at every moment. */
    enum Stage {
        /** Nothing is left to be said: it is Unknown, or not known. */
        RESTING,
        /** Its deadline is on the wheel. */
        ARMED,
        /** Its deadline has passed, and a proof of sight is waited for. */
        WAITING,
        /** It is read or written, with a deadline for each call, or that is tried again after a bounded pause. */
        WORKING
    }

    final String name;
    final DeadlineWheel.Deadline<NodeHealth> deadline = new DeadlineWheel.Deadline<>(this);

    /** The node that all this belongs to; empty while only its lease is known. A new node of that name starts afresh. */
    String uid = "";
    /** The newest version of the node that was seen. */
    String version = "";

    boolean hasLease;
    /** {@code renewTime} of its Lease in microseconds since 1970, or {@link LeaseLine#NO_TIME}. */
    long renewMicros = LeaseLine.NO_TIME;
    /** The last {@code renewTime} that was a sign of life; kept when the Lease is gone, as it may be restored. */
    long heardMicros = LeaseLine.NO_TIME;
    /** The version of its Lease, see {@link Versions#number}. */
    long leaseVersion;
    /** What the last renewal took beyond the quickest of this node, microseconds; negative if not known. */
    long lagMicros = -1;

    /** The status of its Ready condition; empty if it has none, as long as the agent never reported. */
    String ready = "";

    String readyHeartbeat = "";

    Signal signal = Signal.FIRST_SIGHT;
    /** When {@link #signal} was seen, on the nodes' clock, which stands still while the controller is blind. */
    long heardAt;
    /** The same by the controller's monotonic clock. */
    long arrivedAt;
    /** What had been taken out of the nodes' clock until then, nanoseconds. */
    long lostBefore;
    /** Whether this controller declared it Unknown and has not heard of it since. */
    boolean silenced;
    /** What its deadline is at. */
    Stage stage = Stage.RESTING;
    /** How regularly it is heard of. */
    final Suspicion.State rhythm = new Suspicion.State();
    /** When its silence becomes unusual. */
    final DeadlineWheel.Deadline<NodeHealth> doubt = new DeadlineWheel.Deadline<>(this);
    /** Whether it is later than it uses to be. */
    boolean suspect;
    /** Its clock and the controller's. */
    final ClockSkew.State skew = new ClockSkew.State();
    /** How often it fell from Ready; absent if it never did. */
    FlapDamping.@Nullable State flaps;

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

    /** Whether its deadline has passed and is being looked into. */
    boolean isJudged() {
        return stage == Stage.WAITING || stage == Stage.WORKING;
    }

    /** Whether its agent ever posted a status. */
    boolean reported() {
        return !ready.isEmpty();
    }
}
