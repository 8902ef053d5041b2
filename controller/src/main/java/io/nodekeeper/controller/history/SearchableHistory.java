package io.nodekeeper.controller.history;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A history with queries. Confined to the controller's loop, which completes the results. */
public interface SearchableHistory extends History, AutoCloseable {

    /** The decisions that match {@code query}, newest last. */
    CompletableFuture<List<Decision>> find(DecisionQuery query);

    /** Stops storing; waits a moment until earlier decisions are stored. May be called from any thread. */
    @Override
    void close();
}
