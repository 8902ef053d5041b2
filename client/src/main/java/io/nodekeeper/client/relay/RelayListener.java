package io.nodekeeper.client.relay;

import io.netty.handler.codec.http.HttpResponse;

/** The owner of the client's connection. All methods are called on its event loop. */
public interface RelayListener {

    /** The other server cannot be reached or did not answer; nothing was sent to the client. */
    void failed(String why);

    /**
     * The other server answered with an error; nothing was sent to the client.
     *
     * @param text the beginning of the error's body
     */
    void refused(int status, String text);

    /** The other server has changed the protocol; the relay tells the client so. */
    default void changed() {}

    /** Writes the head of a response to the client; the relay writes the body. */
    void begin(HttpResponse head);

    /** The body was written completely. */
    void ended();

    /** The connection to the other server is closed, or there was none. Called once, after all others. */
    void closed();
}
