package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
import io.nodekeeper.api.IpLiteral;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Options for the pods that the agent runs. Without effect unless the gate {@code PodLifecycle} is on. Immutable.
 *
 * @param logsDirectory below which the logs of pods are ({@code /var/log/pods})
 * @param clusterDns addresses of the cluster's DNS servers; empty for those of the node (default)
 * @param clusterDomain the domain of the cluster's services; may be empty (default)
 * @param resolvConf the node's {@code resolv.conf} ({@code /etc/resolv.conf}); the empty path if pods have nothing of the node's DNS
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

    /** Reads all fields that are about pods. */
    static PodConfig read(ConfigFields fields) {
        return new PodConfig(
                logs(fields),
                fields.addresses("clusterDNS")
                        .map(addresses ->
                                addresses.stream().map(IpLiteral::text).toList())
                        .orElse(DEFAULT.clusterDns),
                fields.text("clusterDomain").orElse(DEFAULT.clusterDomain),
                resolvConf(fields),
                StaticPodConfig.read(fields),
                fields.seconds("evictionMaxPodGracePeriod").orElse(DEFAULT.evictionMaxGrace),
                CgroupFields.read(fields),
                ImageGcConfig.read(fields),
                CpuConfig.read(fields),
                ContainerLogConfig.read(fields),
                PodSecurityConfig.read(fields));
    }

    private static Path resolvConf(ConfigFields fields) {
        return fields.take(
                        "resolvConf",
                        "an absolute path, or \"\"",
                        value -> ConfigFields.text(value)
                                .filter(path -> path.isEmpty() || path.startsWith("/"))
                                .map(Path::of))
                .orElse(DEFAULT.resolvConf);
    }

    /** Metrics name it, so Kubernetes wants plain characters. */
    private static Path logs(ConfigFields fields) {
        return fields.take(
                        "podLogsDir",
                        "an absolute and normalized path of ASCII characters",
                        value -> ConfigFields.text(value)
                                .filter(path -> path.matches("/\\p{ASCII}+") || path.equals("/"))
                                .map(Path::of)
                                .filter(path -> path.normalize().toString().equals(value)))
                .orElse(DEFAULT.logsDirectory);
    }

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
