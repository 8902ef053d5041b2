package io.nodekeeper.client;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/**
 * Makes a result of the body of a response, as it arrives. Called by one thread at a time.
 *
 * @param <R> the result
 */
interface Body<R> {
    /** The response has begun; {@code status} is the HTTP status. */
    void begin(int status);

    /**
     * Takes a part of the body.
     *
     * @throws IOException if the body is too large
     */
    void take(ByteBuf bytes) throws IOException;

    /** What arrived together was taken; more may come when the result completes. */
    CompletableFuture<Void> arrived();

    /** The body is complete. */
    R end();
}
