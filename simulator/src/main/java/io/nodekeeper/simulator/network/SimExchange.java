package io.nodekeeper.simulator.network;

/** A call in progress that fails when the connection breaks. */
interface SimExchange {
    /** The connection broke, and the client must be notified. */
    void broken(String why);

    /** The client's process has died: no notification. */
    void abandoned();
}
