package io.nodekeeper.controller.zones;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.time.Loop;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The state of one node in {@link FairZones}. Confined to the loop. */
final class FairMember {
    /** Its newest state. */
    ZoneNode node;
    /** Ends its permission to get a taint, if it has one. */
    Loop.@Nullable Timer permit;
    /** Whether its taints must be removed first. */
    boolean strip;
    /** Whether it waits in its zone's queue. */
    boolean queued;
    /** Whether it was added after the start and has not been ready yet. */
    boolean joining;
    /** Whether a timer runs after which it may enter the queue; at most one runs. */
    boolean waits;

    private FairQueue.@Nullable Place place;

    FairMember(ZoneNode node) {
        this.node = node;
    }

    /** Its place in the queue, from when it was first seen not ready. */
    FairQueue.Place place(NodeHealth health, Node node, long now) {
        FairQueue.Place held = place;
        if (held == null) {
            long transition = node.ready()
                    .flatMap(Condition::lastTransitionTime)
                    .map(time -> time.getEpochSecond())
                    .orElse(0L);
            held = new FairQueue.Place(now, transition, health.name());
            place = held;
        }
        return held;
    }

    /** Its place in the queue, if it has one. */
    Optional<FairQueue.Place> place() {
        return Optional.ofNullable(place);
    }

    /** Nodes that are found not ready until {@code now} come before it, if it has a place. */
    void moveToEnd(long now) {
        FairQueue.Place held = place;
        if (held != null) {
            place = new FairQueue.Place(now, held.transition(), held.name());
        }
    }

    /** The node is ready: next time it enters the queue at the end. */
    void forgetPlace() {
        place = null;
    }
}
