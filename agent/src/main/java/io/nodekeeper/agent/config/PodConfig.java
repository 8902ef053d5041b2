package io.nodekeeper.agent.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Options for the pods that the agent runs. Without effect unless the gate {@code PodLifecycle} is on. Immutable.
 *
 * @param logsDirectory below which the logs of pods are ({@code /var/log/pods})
 * @param clusterDns addresses of the cluster's DNS servers; empty for those of the node (default)
 * @param clusterDomain the domain of the cluster's services; may be empty (default)
 * @param resolvConf the node's {@code resolv.conf} ({@code /etc/resolv.conf})
 * @param staticPods where static pods are (none)
 * @param evictionMaxGrace the most time that a pod has to end which is evicted because of a soft threshold (0)
 * @param cgroups the cgroups of pods
 * @param imageGc when unused images are removed
 * @param cpus processors that pods have for themselves
 * @param containerLogs when logs of containers are rotated
 * @param security what pods may do, and how they are confined
 */
public record PodConfig(
        Path logsDirectory,
        List<String> clusterDns,
        String clusterDomain,
        Path resolvConf,
        StaticPodConfig staticPods,
        Duration evictionMaxGrace,
        CgroupConfig cgroups,
        ImageGcConfig imageGc,
        CpuConfig cpus,
        ContainerLogConfig containerLogs,
        PodSecurityConfig security) {
    /** The kubelet's defaults. */
    public static final PodConfig DEFAULT = new PodConfig(
            Path.of("/var/log/pods"),
            List.of(),
            "",
            Path.of("/etc/resolv.conf"),
            StaticPodConfig.DEFAULT,
            Duration.ZERO,
            CgroupConfig.DEFAULT,
            ImageGcConfig.DEFAULT,
            CpuConfig.DEFAULT,
            ContainerLogConfig.DEFAULT,
            PodSecurityConfig.DEFAULT);

    /** Keeps a copy. */
    public PodConfig {
        clusterDns = List.copyOf(clusterDns);
    }

    /** The same with other cgroups. */
    PodConfig with(CgroupConfig other) {
        return with(other, security);
    }

    /** The same with other rules of security. */
    PodConfig with(PodSecurityConfig other) {
        return with(cgroups, other);
    }

    private PodConfig with(CgroupConfig otherCgroups, PodSecurityConfig otherSecurity) {
        return new PodConfig(
                logsDirectory,
                clusterDns,
                clusterDomain,
                resolvConf,
                staticPods,
                evictionMaxGrace,
                otherCgroups,
                imageGc,
                cpus,
                containerLogs,
                otherSecurity);
    }
}
