package io.nodekeeper.agent.pleg;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Inspects pods after each list. */
interface Inspector {

    /**
     * A list that began at {@code began} is in the records; the pods {@code gone} no longer are. Completes when the relist
     * may be called done.
     */
    CompletableFuture<Void> listed(List<String> gone, long began);

    /** Starts no further inspection. */
    void stop();
}
