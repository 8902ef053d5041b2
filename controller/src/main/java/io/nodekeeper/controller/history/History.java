package io.nodekeeper.controller.history;

/** Where decisions are kept. Never blocks and never fails its caller. Confined to the controller's loop. */
@FunctionalInterface
public interface History {
    /** Keeps nothing. */
    History NONE = decision -> {};

    /** Keeps {@code decision}. */
    void add(Decision decision);
}
