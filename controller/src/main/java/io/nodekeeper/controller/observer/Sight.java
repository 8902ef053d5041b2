package io.nodekeeper.controller.observer;

/** Checks whether the controller has seen what was stored. Called on the loop. */
public interface Sight {
    /**
     * Whether everything is seen that was stored before the nodes' clock showed {@code nodeTime}; if not, a proof is
     * requested.
     */
    boolean isProven(long nodeTime);
}
