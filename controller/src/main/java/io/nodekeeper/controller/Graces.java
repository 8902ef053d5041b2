package io.nodekeeper.controller;

/** Restarts what all nodes' silence is measured by. Called on the loop. */
@FunctionalInterface
interface Graces {
    /** Every node counts as heard of at this moment. */
    void restartAll();
}
