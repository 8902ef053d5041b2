package io.nodekeeper.cri.devices;

/**
 * What a plugin wants to be asked. Immutable.
 *
 * @param preStart whether before each start of a container
 * @param preferredAllocation whether it chooses among the devices that are free
 */
public record PluginOptions(boolean preStart, boolean preferredAllocation) {
    /** Nothing but allocations. */
    public static final PluginOptions NONE = new PluginOptions(false, false);
}
