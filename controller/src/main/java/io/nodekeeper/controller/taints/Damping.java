package io.nodekeeper.controller.taints;

import io.nodekeeper.controller.heartbeats.NodeHealth;

/** Decides which nodes flap. Called on the loop. */
@FunctionalInterface
public interface Damping {
    /** No node is damped. */
    Damping NONE = health -> false;

    /**
     * Whether the node's {@code not-ready} and {@code unreachable} taints must stay although it is Ready. The
     * implementation calls {@link Tainter#recheck} when that ends.
     */
    boolean holds(NodeHealth health);
}
