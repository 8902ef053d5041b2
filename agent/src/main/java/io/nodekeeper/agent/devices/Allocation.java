package io.nodekeeper.agent.devices;

import io.nodekeeper.cri.devices.DeviceGrant;
import io.nodekeeper.cri.devices.PluginDevice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The devices of one resource that one container has. Immutable.
 *
 * @param uid of the pod
 * @param byNode ids by the NUMA node that they are near; {@link #NO_NODE} for those without one
 * @param grant what the container gets with them
 */
record Allocation(String uid, String container, String resource, Map<Long, List<String>> byNode, DeviceGrant grant) {
    /** The kubelet's number for devices that are near no node. */
    static final long NO_NODE = -1;

    /** Keeps a copy, sorted. */
    Allocation {
        Map<Long, List<String>> sorted = new TreeMap<>();
        byNode.forEach((node, ids) -> sorted.put(node, List.copyOf(ids)));
        byNode = Collections.unmodifiableMap(sorted);
    }

    /** The ids of all its devices, sorted. */
    Set<String> ids() {
        Set<String> ids = new TreeSet<>();
        byNode.values().forEach(ids::addAll);
        return ids;
    }

    /** {@code ids} by the nodes that {@code devices} says; a device that is near several nodes is with each of them. */
    static Map<Long, List<String>> byNode(Collection<String> ids, Map<String, PluginDevice> devices) {
        Map<Long, List<String>> byNode = new TreeMap<>();
        for (String id : ids) {
            PluginDevice device = devices.get(id);
            Set<Long> nodes = device == null || device.numaNodes().isEmpty() ? Set.of(NO_NODE) : device.numaNodes();
            nodes.forEach(node ->
                    byNode.computeIfAbsent(node, key -> new ArrayList<>()).add(id));
        }
        return byNode;
    }
}
