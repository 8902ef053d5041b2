package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.cri.config.SandboxOptions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Translates a pod to the configuration of its sandbox, as a kubelet 1.32 does. */
public final class Sandboxes {
    /**
     * The most characters of names and values of a sandbox's annotations. A runtime lists those of all sandboxes in one message of at most
     * 16 MiB; the API allows 256 KiB for each pod, so sixty-four pods would make a node that cannot see its pods.
     */
    private static final int MOST_ANNOTATIONS = 32 << 10;

    private Sandboxes() {}

    /**
     * The configuration of attempt number {@code attempt}.
     *
     * @param resolvConf the content of the node's {@code resolv.conf}
     */
    public static SandboxConfig config(Pod pod, int attempt, NodeSettings node, String resolvConf) {
        SandboxOptions options = new SandboxOptions(
                pod.hostNetwork() ? "" : hostname(pod),
                pod.labels(),
                annotations(pod),
                Optional.of(DnsSettings.of(pod, node, resolvConf)),
                ports(pod),
                node.cgroups().of(pod),
                namespaces(pod),
                security(pod),
                Limits.ofSandbox(pod, node));
        return new SandboxConfig(
                pod.uid(),
                pod.name(),
                pod.namespace(),
                attempt,
                PodLabels.logDirectory(node.logsDirectory(), pod).toString(),
                options);
    }

    /** The pod's annotations; if they are too long together, without the longest ones. */
    private static Map<String, String> annotations(Pod pod) {
        Map<String, String> annotations = new LinkedHashMap<>(pod.annotations());
        int length = annotations.entrySet().stream().mapToInt(Sandboxes::length).sum();
        Iterator<Map.Entry<String, String>> longest = pod.annotations().entrySet().stream()
                .sorted(Comparator.comparingInt(Sandboxes::length).reversed())
                .iterator();
        while (length > MOST_ANNOTATIONS) {
            Map.Entry<String, String> next = longest.next();
            annotations.remove(next.getKey());
            length -= length(next);
        }
        return annotations;
    }

    private static int length(Map.Entry<String, String> annotation) {
        return annotation.getKey().length() + annotation.getValue().length();
    }

    private static SandboxOptions.Security security(Pod pod) {
        boolean privileged = pod.allContainers().stream()
                .anyMatch(
                        container -> container.json().object("securityContext").bool("privileged"));
        return new SandboxOptions.Security(
                privileged, pod.sysctls(), SelinuxLabels.of(pod.spec().object("securityContext")));
    }

    /** The hostname of the pod: that of its spec, else its name, cut to what Linux accepts. */
    static String hostname(Pod pod) {
        String wanted =
                pod.spec().text("hostname").isEmpty() ? pod.name() : pod.spec().text("hostname");
        String cut = wanted.substring(0, Math.min(wanted.length(), SandboxOptions.MAX_HOSTNAME));
        // A hostname does not end with a dot or a dash.
        return cut.replaceFirst("[-.]+$", "");
    }

    static SandboxOptions.Namespaces namespaces(Pod pod) {
        return new SandboxOptions.Namespaces(
                pod.hostNetwork(),
                pod.spec().bool("hostPID"),
                pod.spec().bool("hostIPC"),
                pod.spec().bool("shareProcessNamespace"),
                Optional.empty());
    }

    private static List<SandboxOptions.Port> ports(Pod pod) {
        List<SandboxOptions.Port> ports = new ArrayList<>();
        if (pod.hostNetwork()) {
            return ports;
        }
        pod.allContainers()
                .forEach(container -> container
                        .json()
                        .array("ports")
                        .objects()
                        .filter(port -> port.number("hostPort").orElse(0L) > 0)
                        .forEach(port -> ports.add(port(port))));
        return ports;
    }

    private static SandboxOptions.Port port(JsonObject port) {
        String protocol = port.text("protocol");
        return new SandboxOptions.Port(
                protocol.isEmpty() ? "TCP" : protocol,
                port.number("containerPort").orElse(0L).intValue(),
                port.number("hostPort").orElse(0L).intValue(),
                port.text("hostIP"));
    }
}
