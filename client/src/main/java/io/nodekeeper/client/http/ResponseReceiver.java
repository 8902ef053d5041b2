package io.nodekeeper.client.http;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponse;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/**
 * Receives one response as it arrives. All calls are made on the event loop of the connections, so they must not block, one
 * after another: the head, parts of the body, and then the end. A failure may take the place of any of these; after it, and after the
 * end, no call follows.
 */
public interface ResponseReceiver {
    /** Status and headers. */
    void head(HttpResponse head);

    /**
     * A part of the body. The bytes are valid during the call only.
     *
     * @throws IOException if the rest is not wanted; the connection is closed, and {@link #failed} gets it
     */
    void body(ByteBuf bytes) throws IOException;

    /** What arrived together has been passed on; more is read when the result completes, on any thread. */
    CompletableFuture<Void> arrived();

    /** The body is complete. */
    void end();

    /** There is no complete response: the connection could not be made, broke, or the response is malformed. */
    void failed(Throwable why);
}
