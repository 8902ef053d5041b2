package io.nodekeeper.cri.plugin;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Calls plugins of the node. Confined to the loop on which the answers come. */
public interface PluginCalls {

    /**
     * Calls the plugin that listens at {@code socket}. The result fails with {@link PluginCallException}, at the latest after
     * {@code deadline}; cancelling it gives the call up.
     */
    <T> CompletableFuture<T> call(Path socket, PluginCall<T> call, Duration deadline);
}
