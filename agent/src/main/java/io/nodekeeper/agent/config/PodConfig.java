package io.nodekeeper.agent.config;

import java.nio.file.Path;
import java.util.List;

/**
 * Options for the pods that the agent runs. Without effect unless the gate {@code PodLifecycle} is on. Immutable.
 *
 * @param logsDirectory below which the logs of pods are ({@code /var/log/pods})
 * @param clusterDns addresses of the cluster's DNS servers; empty for those of the node (default)
 * @param clusterDomain the domain of the cluster's services; may be empty (default)
 * @param resolvConf the node's {@code resolv.conf} ({@code /etc/resolv.conf})
 */
public record PodConfig(Path logsDirectory, List<String> clusterDns, String clusterDomain, Path resolvConf) {
    /** The kubelet's defaults. */
    public static final PodConfig DEFAULT =
            new PodConfig(Path.of("/var/log/pods"), List.of(), "", Path.of("/etc/resolv.conf"));

    /** Keeps a copy. */
    public PodConfig {
        clusterDns = List.copyOf(clusterDns);
    }
}
