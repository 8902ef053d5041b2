package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.stats.cgroups.CgroupUsage;
import java.util.List;
import java.util.Map;

/**
 * What the kernel counts, read at one moment. Immutable.
 *
 * @param system by Kubernetes' name ({@code kubelet}, {@code runtime}, {@code pods}): what it uses, if it has a cgroup
 * @param pods by UID of a pod, id of a sandbox and id of a container: what its cgroup uses, if it has one
 * @param networks by UID of a pod: its interfaces; none if it has the network of the node
 */
record KernelReading(
        NodeUsage node,
        Map<String, CgroupUsage> system,
        Map<String, CgroupUsage> pods,
        Map<String, List<NodeUsage.Network>> networks) {
    /** Copies the maps. */
    KernelReading {
        system = Map.copyOf(system);
        pods = Map.copyOf(pods);
        networks = Map.copyOf(networks);
    }
}
