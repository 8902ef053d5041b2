package io.nodekeeper.controller.history;

/** Stores decisions. Never blocks and never throws. Confined to the controller's loop. */
@FunctionalInterface
public interface History {
    /** Stores nothing. */
    History NONE = decision -> {};

    /** Stores {@code decision}. */
    void add(Decision decision);
}
