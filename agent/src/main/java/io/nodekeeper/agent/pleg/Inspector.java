package io.nodekeeper.agent.pleg;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Inspects pods after each list. */
interface Inspector {

    /**
     * Called when the records contain a list that began at {@code began}, and no longer contain the pods {@code gone}.
     * Completes when the relist counts as finished.
     */
    CompletableFuture<Void> listed(List<String> gone, long began);

    /** Starts no further inspection. */
    void stop();
}
