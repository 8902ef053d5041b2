package io.nodekeeper.apiserver.netty;

/** The events that the server sends through the handlers of a connection. */
enum ConnectionEvent {
    /** The server stops: the connection ends as soon as its open responses are written. */
    STOP
}
