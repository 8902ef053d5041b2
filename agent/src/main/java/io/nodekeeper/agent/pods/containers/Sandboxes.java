package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.cri.config.SandboxOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Translates a pod to the configuration of its sandbox, as a kubelet 1.32 does. */
public final class Sandboxes {
    /**
     * The most bytes of a sandbox's annotations, and of its labels. A runtime lists those of all sandboxes in one
     * message of at most 16 MiB; the API allows 256 KiB of annotations for each pod and more of labels, so some dozen pods would make a
     * node that cannot see its pods.
     */
    private static final int MOST_TEXT = 32 << 10;
    /** What such a message has for each name and value besides: their marks and lengths. There may be thousands of short ones. */
    private static final int ENTRY = 10;

    private Sandboxes() {}

    /**
     * The configuration of attempt number {@code attempt}.
     *
     * @param resolvConf the content of the node's {@code resolv.conf}
     */
    public static SandboxConfig config(Pod pod, int attempt, NodeSettings node, String resolvConf) {
        SandboxOptions options = new SandboxOptions(
                pod.hostNetwork() ? "" : hostname(pod),
                shorter(pod.labels()),
                shorter(pod.annotations()),
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

    /** {@code texts}; if they are too long together, without the longest ones. */
    private static Map<String, String> shorter(Map<String, String> texts) {
        Map<String, Integer> lengths = new HashMap<>();
        texts.forEach((name, value) -> lengths.put(name, ENTRY + length(name) + length(value)));
        int length = lengths.values().stream().mapToInt(Integer::intValue).sum();
        Map<String, String> shorter = new LinkedHashMap<>(texts);
        Iterator<Map.Entry<String, Integer>> longest = lengths.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue()
                        .reversed()
                        .thenComparing(Map.Entry.comparingByKey()))
                .iterator();
        while (length > MOST_TEXT) {
            Map.Entry<String, Integer> next = longest.next();
            shorter.remove(next.getKey());
            length -= next.getValue();
        }
        return shorter;
    }

    private static int length(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
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
