package io.nodekeeper.client.pages;

import java.util.concurrent.CompletableFuture;

/** A stream of server-sent events with a limited number of readers. Implementations are thread-safe. */
@FunctionalInterface
public interface Feed {

    /**
     * Starts to send to {@code reader}.
     *
     * @return whether there was room for it; never fails
     */
    CompletableFuture<Boolean> open(Reader reader);

    /** One client of a feed. Thread-safe. */
    interface Reader {

        /**
         * Sends {@code bytes}, which must not be changed; completes when the client's socket took them, and fails if the
         * client is gone.
         */
        CompletableFuture<Void> send(byte[] bytes);

        /** Ends the connection. Idempotent. */
        void close();
    }
}
