package io.nodekeeper.agent.plugins;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Uses the plugins of one type. Confined to the loop of the {@link PluginManager}. */
public interface PluginHandler {

    /** Why {@code plugin} cannot be registered; empty if it can. */
    Optional<String> fault(Plugin plugin);

    /** Begins to use {@code plugin}, in place of an earlier one of its name. A failure is told to the plugin and repeated later. */
    CompletableFuture<Void> register(Plugin plugin);

    /** Uses {@code plugin} no longer: its socket is gone. */
    void deregister(Plugin plugin);
}
