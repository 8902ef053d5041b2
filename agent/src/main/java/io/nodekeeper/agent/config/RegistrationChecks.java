package io.nodekeeper.agent.config;

import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.api.Taint;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Checks the options with which a Node is registered. Pure; each method adds what is wrong to {@code faults}. */
final class RegistrationChecks {
    private static final Pattern NODE_NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");
    /** The label keys below kubernetes.io that Kubernetes lets an agent set. */
    private static final Set<String> ALLOWED_LABELS = Set.of(
            "kubernetes.io/hostname",
            "kubernetes.io/os",
            "kubernetes.io/arch",
            "beta.kubernetes.io/os",
            "beta.kubernetes.io/arch",
            "beta.kubernetes.io/instance-type",
            "topology.kubernetes.io/zone",
            "topology.kubernetes.io/region",
            "failure-domain.beta.kubernetes.io/zone",
            "failure-domain.beta.kubernetes.io/region");

    private static final Set<String> EFFECTS = Set.of(Taint.NO_SCHEDULE, Taint.PREFER_NO_SCHEDULE, Taint.NO_EXECUTE);

    private RegistrationChecks() {}

    static void name(String name, List<String> faults) {
        if (!NODE_NAME.matcher(name).matches()) {
            faults.add("node name \"" + name
                    + "\" must consist of lower case letters, digits, '-' and '.', at most 253, and begin and end with"
                    + " a letter or digit");
        }
    }

    static void addresses(List<InetAddress> ips, List<String> faults) {
        if (ips.size() > 2) {
            faults.add("node-ip takes one address or one of each family, got " + ips.size());
        } else if (ips.size() == 2) {
            if (ips.get(0).getClass() == ips.get(1).getClass()) {
                faults.add("node-ip: two addresses must be one IPv4 and one IPv6, got " + texts(ips));
            }
            if (ips.stream().anyMatch(InetAddress::isAnyLocalAddress)) {
                faults.add("node-ip: neither of two addresses may be unspecified, got " + texts(ips));
            }
        }
    }

    private static String texts(List<InetAddress> ips) {
        return String.join(",", ips.stream().map(IpLiteral::text).toList());
    }

    static void labels(Map<String, String> labels, List<String> faults) {
        labels.keySet().stream()
                .filter(RegistrationChecks::isReserved)
                .forEach(key -> faults.add("node label \"" + key
                        + "\" is in the kubernetes.io or k8s.io namespace, but is not one that an agent may set"));
    }

    private static boolean isReserved(String key) {
        int slash = key.indexOf('/');
        String namespace = slash < 0 ? "" : key.substring(0, slash);
        boolean kubernetes = isWithin(namespace, "kubernetes.io") || isWithin(namespace, "k8s.io");
        return kubernetes
                && !ALLOWED_LABELS.contains(key)
                && !isWithin(namespace, "kubelet.kubernetes.io")
                && !isWithin(namespace, "node.kubernetes.io");
    }

    private static boolean isWithin(String namespace, String domain) {
        return namespace.equals(domain) || namespace.endsWith("." + domain);
    }

    static void taints(List<Taint> taints, List<String> faults) {
        for (Taint taint : taints) {
            if (taint.key().isEmpty() || !EFFECTS.contains(taint.effect())) {
                faults.add("registerWithTaints: a taint needs a key and one of the effects NoSchedule,"
                        + " PreferNoSchedule, NoExecute; got " + taint.json());
            }
        }
    }
}
