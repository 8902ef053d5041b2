package io.nodekeeper.cri.devices;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One plugin, which answers for the devices of one resource. Each call has a deadline, and its result completes on the loop of
 * the implementation; a call that fails does so with a {@link PluginCallException}. Used on that loop.
 */
public interface DevicePlugin extends AutoCloseable {
    /** What the plugin wants to be asked. Waits until it listens. */
    CompletableFuture<PluginOptions> options();

    /**
     * Follows the plugin's devices until {@link #close}; the result completes, with or without an error, when the plugin ends.
     *
     * @param devices receives all devices after each change
     */
    CompletableFuture<Void> watch(Consumer<List<PluginDevice>> devices);

    /**
     * The devices that the plugin would choose.
     *
     * @param available ids to choose from
     * @param included ids of {@code available} that must be among the chosen ones
     * @param count how many to choose
     */
    CompletableFuture<List<String>> preferred(List<String> available, List<String> included, int count);

    /** Gives devices to a container. */
    CompletableFuture<DeviceGrant> allocate(List<String> ids);

    /** Prepares devices for a start of their container. */
    CompletableFuture<Void> preStart(List<String> ids);

    /** Ends the connection; calls in progress fail. Idempotent. */
    @Override
    void close();
}
