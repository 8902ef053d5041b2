package io.nodekeeper.simulator.network;

/** All calls in progress of one process, as the network sees them. */
interface SimConnection {
    /** Whether they use {@code cable}. */
    boolean uses(Cable cable);

    /** Makes all of them fail; {@code why} is part of the error's message. */
    void breakAll(String why);
}
