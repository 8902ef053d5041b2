package io.nodekeeper.controller;

/** Knows which nodes flap. Called on the loop. */
@FunctionalInterface
interface Damping {
    /** No node is damped. */
    Damping NONE = health -> false;

    /**
     * Whether the node's {@code not-ready} and {@code unreachable} taints have to stay although it is Ready. Whoever says
     * so calls {@link Tainter#recheck} when it ends.
     */
    boolean holds(NodeHealth health);
}
