package io.nodekeeper.controller.history;

import java.util.concurrent.CompletableFuture;

/** A history with queries. Confined to the controller's loop, which completes the results. */
public interface SearchableHistory extends History, AutoCloseable {

    /**
     * The answer to {@code search}; fails with {@link java.util.concurrent.RejectedExecutionException} if too many
     * searches are running.
     */
    <R> CompletableFuture<R> find(Search<R> search);

    /** Stops storing; waits a moment until earlier decisions are stored. May be called from any thread. */
    @Override
    void close();
}
