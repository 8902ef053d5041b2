package io.nodekeeper.controller.history;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A history that can be asked. Confined to the controller's loop, on which answers come. */
public interface SearchableHistory extends History, AutoCloseable {

    /** The decisions that {@code query} wants, newest last. */
    CompletableFuture<List<Decision>> find(DecisionQuery query);

    /** Keeps no more; waits a moment for what was added before to reach its place. May be called from anywhere. */
    @Override
    void close();
}
