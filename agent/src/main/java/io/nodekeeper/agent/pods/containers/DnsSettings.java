package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.config.SandboxOptions.Dns;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Decides the content of a pod's {@code resolv.conf} from its {@code dnsPolicy} and {@code dnsConfig}. */
final class DnsSettings {
    /** The most servers that resolvers of the C library use. */
    private static final int MAX_SERVERS = 3;
    /** Kubernetes' option for names of services. */
    private static final String NDOTS = "ndots:5";

    private DnsSettings() {}

    /** The settings of {@code pod}; {@code resolvConf} is the content of the node's own file. */
    static Dns of(Pod pod, NodeSettings node, String resolvConf) {
        Dns base = base(pod, node, host(resolvConf));
        JsonObject own = pod.spec().object("dnsConfig");
        Set<String> servers = new LinkedHashSet<>(base.servers());
        own.array("nameservers").strings().forEach(servers::add);
        Set<String> searches = new LinkedHashSet<>(base.searches());
        own.array("searches").strings().forEach(searches::add);
        Map<String, String> options = new LinkedHashMap<>();
        base.options().forEach(option -> options.put(name(option), option));
        own.array("options")
                .objects()
                .forEach(option -> options.put(
                        option.text("name"),
                        option.has("value") ? option.text("name") + ":" + option.text("value") : option.text("name")));
        return new Dns(
                servers.stream().limit(MAX_SERVERS).toList(), List.copyOf(searches), List.copyOf(options.values()));
    }

    private static Dns base(Pod pod, NodeSettings node, Dns host) {
        String policy = pod.spec().text("dnsPolicy");
        boolean cluster = policy.equals("ClusterFirstWithHostNet")
                || !policy.equals("Default") && !policy.equals("None") && !pod.hostNetwork();
        if (policy.equals("None")) {
            return new Dns(List.of(), List.of(), List.of());
        }
        // Without servers of the cluster, pods use those of the node, as in Kubernetes.
        if (!cluster || node.clusterDns().isEmpty()) {
            return host;
        }
        List<String> searches = new ArrayList<>();
        if (!node.clusterDomain().isEmpty()) {
            searches.add(pod.namespace() + ".svc." + node.clusterDomain());
            searches.add("svc." + node.clusterDomain());
            searches.add(node.clusterDomain());
        }
        searches.addAll(host.searches());
        return new Dns(node.clusterDns(), searches, List.of(NDOTS));
    }

    private static Dns host(String resolvConf) {
        List<String> servers = new ArrayList<>();
        List<String> searches = new ArrayList<>();
        List<String> options = new ArrayList<>();
        resolvConf.lines().map(line -> line.strip().split("\\s+")).forEach(words -> {
            List<String> values = List.of(words).subList(1, words.length);
            switch (words[0]) {
                case "nameserver" -> values.stream().findFirst().ifPresent(servers::add);
                case "search", "domain" -> {
                    // The last line counts.
                    searches.clear();
                    searches.addAll(values);
                }
                case "options" -> {
                    options.clear();
                    options.addAll(values);
                }
                default -> {}
            }
        });
        return new Dns(servers, searches, options);
    }

    private static String name(String option) {
        int colon = option.indexOf(':');
        return colon < 0 ? option : option.substring(0, colon);
    }
}
