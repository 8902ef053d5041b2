package io.nodekeeper.controller.guard;

import io.nodekeeper.controller.observer.StalledHop;
import java.time.Duration;
import java.util.List;

/** What our own controller sees of the cluster. Immutable. */
public sealed interface OwnSight {

    /**
     * A blindness that is over, and whose time was given back to the nodes: they could not renew their leases in it.
     *
     * @param from how long ago it began
     * @param until how long ago it ended
     */
    record Past(Duration from, Duration until) {
        private Past later(Duration by) {
            return new Past(from.plus(by), until.plus(by));
        }
    }

    /**
     * It sees.
     *
     * @param nodes the number of nodes in the cluster
     * @param past when it was blind before
     */
    record Sees(int nodes, List<Past> past) implements OwnSight {
        /** It sees, and was never blind. */
        public Sees(int nodes) {
            this(nodes, List.of());
        }
    }

    /**
     * It is blind, so that silence of nodes proves nothing.
     *
     * @param nodes the number of nodes in the cluster
     * @param since how long
     * @param hop the reason
     * @param past when it was blind before
     */
    record Blind(int nodes, Duration since, StalledHop hop, List<Past> past) implements OwnSight {
        /** It is blind for the first time. */
        public Blind(int nodes, Duration since, StalledHop hop) {
            this(nodes, since, hop, List.of());
        }
    }

    /**
     * It cannot tell.
     *
     * @param why in words
     */
    record Unknown(String why) implements OwnSight {}

    /** When it was blind before. */
    default List<Past> past() {
        return List.of();
    }

    /** The same after that much more time, of which it has not reported anything. */
    default OwnSight later(Duration by) {
        List<Past> moved = past().stream().map(past -> past.later(by)).toList();
        return switch (this) {
            case Sees sees -> new Sees(sees.nodes, moved);
            case Blind blind -> new Blind(blind.nodes, blind.since, blind.hop, moved);
            case Unknown unknown -> unknown;
        };
    }
}
