package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.devices.ContainerDevices;

/**
 * What a container has of its node for itself. Immutable.
 *
 * @param devices of plugins
 * @param cpus the processors that it may use, such as {@code 0-3,7}; empty for all
 */
public record OwnResources(ContainerDevices devices, String cpus) {
    /** Nothing. */
    public static final OwnResources NONE = new OwnResources(ContainerDevices.NONE, "");
}
