package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.cgroups.PodParent;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What the configuration of a pod's containers needs to know about its node. Immutable.
 *
 * @param name the node's name
 * @param addresses its InternalIPs, the primary one first
 * @param capacity its {@code status.capacity}
 * @param allocatable its {@code status.allocatable}
 * @param logsDirectory below which the logs of all pods are, usually {@code /var/log/pods}
 * @param clusterDns addresses of the cluster's DNS servers; empty if there are none
 * @param clusterDomain the domain of the cluster's services; may be empty
 * @param cgroups where the cgroups of pods are
 * @param seccomp which filters of system calls containers have
 */
public record NodeSettings(
        String name,
        List<String> addresses,
        JsonObject capacity,
        JsonObject allocatable,
        Path logsDirectory,
        List<String> clusterDns,
        String clusterDomain,
        PodParent cgroups,
        Seccomp seccomp) {
    private static final String LOOPBACK_SERVER = "nameserver 127.0.0.1\n";

    /** The settings of a node as the API shows it; without the node, what depends on it is empty. */
    public static NodeSettings of(
            String name,
            Optional<Node> node,
            Path logsDirectory,
            List<String> clusterDns,
            String clusterDomain,
            PodParent cgroups,
            Seccomp seccomp) {
        JsonObject status = node.map(Node::status).orElse(JsonObject.EMPTY);
        List<String> addresses = status.array("addresses")
                .objects()
                .filter(address -> address.text("type").equals("InternalIP"))
                .map(address -> address.text("address"))
                .toList();
        return new NodeSettings(
                name,
                addresses,
                status.object("capacity"),
                status.object("allocatable"),
                logsDirectory,
                clusterDns,
                clusterDomain,
                cgroups,
                seccomp);
    }

    /**
     * A {@code resolv.conf} for pods of a node without one: the servers of a kubelet, with which a pod asks itself, one of each IP
     * family of the node. With nothing in it, runtimes would give the pod the node's file.
     */
    public String loopbackResolvConf() {
        String servers = addresses.stream()
                .map(address -> address.contains(":") ? "nameserver ::1\n" : LOOPBACK_SERVER)
                .distinct()
                .collect(Collectors.joining());
        return servers.isEmpty() ? LOOPBACK_SERVER : servers;
    }

    /** The bytes of memory of the node; 0 if not known. */
    long memory() {
        return bytes(capacity);
    }

    /** The bytes of memory that the node's pods may use; 0 if not known. */
    public long allocatableMemory() {
        return bytes(allocatable);
    }

    private static long bytes(JsonObject resources) {
        return resources
                .get("memory")
                .flatMap(Quantity::from)
                .map(Quantity::toLong)
                .orElse(0L);
    }
}
