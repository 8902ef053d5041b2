package io.nodekeeper.cri.devices;

import java.util.Set;

/**
 * One device as its plugin reports it. Immutable.
 *
 * @param id unique among the devices of its resource
 * @param healthy whether it can be given to containers
 * @param numaNodes the NUMA nodes near it; empty if it does not matter
 */
public record PluginDevice(String id, boolean healthy, Set<Long> numaNodes) {
    /** Kubernetes' word for a device that can be used; each other word means that it cannot. */
    static final String HEALTHY = "Healthy";

    /** Keeps a copy. */
    public PluginDevice {
        numaNodes = Set.copyOf(numaNodes);
    }
}
