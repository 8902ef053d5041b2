package io.nodekeeper.agent.pods.security;

import io.nodekeeper.agent.config.SysctlPattern;
import io.nodekeeper.agent.pods.model.Pod;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which sysctls pods may set: those that Kubernetes considers safe, because they affect only the pod itself, and those that the
 * operator allows. A pod cannot set sysctls of a namespace that it shares with the host. Immutable.
 */
final class SysctlRules {
    /** Kubernetes 1.32's. The newest of them need Linux 4.15, which is older than what the agent needs for volumes. */
    private static final List<String> SAFE = List.of(
            "kernel.shm_rmid_forced",
            "net.ipv4.ip_local_port_range",
            "net.ipv4.tcp_syncookies",
            "net.ipv4.ping_group_range",
            "net.ipv4.ip_unprivileged_port_start",
            "net.ipv4.ip_local_reserved_ports",
            "net.ipv4.tcp_keepalive_time",
            "net.ipv4.tcp_fin_timeout",
            "net.ipv4.tcp_keepalive_intvl",
            "net.ipv4.tcp_keepalive_probes",
            "net.ipv4.tcp_rmem",
            "net.ipv4.tcp_wmem");

    private final List<SysctlPattern> allowed;

    /** The rules with {@code unsafe} besides the safe sysctls. */
    SysctlRules(List<SysctlPattern> unsafe) {
        // As in a kubelet, whole names count before the beginnings of names.
        allowed = Stream.concat(SAFE.stream().map(SysctlPattern::of), unsafe.stream())
                .sorted((one, other) ->
                        Boolean.compare(one.text().endsWith("*"), other.text().endsWith("*")))
                .toList();
    }

    /** The kubelet's words about the first sysctl that {@code pod} may not set; empty if it may set all. */
    Optional<String> fault(Pod pod) {
        return pod.sysctls().keySet().stream()
                .flatMap(name -> fault(name, pod).stream())
                .findFirst()
                .map("forbidden sysctl: "::concat);
    }

    private Optional<String> fault(String name, Pod pod) {
        Optional<SysctlPattern> rule =
                allowed.stream().filter(pattern -> pattern.matches(name)).findFirst();
        if (rule.isEmpty()) {
            return Optional.of("\"" + name + "\" not allowlisted");
        }
        SysctlPattern.Namespace namespace = rule.get().namespace();
        boolean shared = switch (namespace) {
            case NET -> pod.hostNetwork();
            case IPC -> pod.spec().bool("hostIPC");
        };
        return shared
                ? Optional.of("\"" + name + "\" not allowed with host " + namespace.text() + " enabled")
                : Optional.empty();
    }
}
