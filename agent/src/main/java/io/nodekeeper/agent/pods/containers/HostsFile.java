package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.Pod;
import java.util.List;

/** The content of a pod's {@code /etc/hosts}, as a kubelet 1.32 writes it. */
public final class HostsFile {
    private HostsFile() {}

    /**
     * The content for a pod with a network of its own and these addresses.
     *
     * @param clusterDomain the domain of the cluster's services, in which a pod with a {@code subdomain} has a full name; may be empty
     */
    public static String of(Pod pod, List<String> podIps, String clusterDomain) {
        StringBuilder text = new StringBuilder("""
                # Kubernetes-managed hosts file.
                127.0.0.1\tlocalhost
                ::1\tlocalhost ip6-localhost ip6-loopback
                fe00::0\tip6-localnet
                fe00::0\tip6-mcastprefix
                fe00::1\tip6-allnodes
                fe00::2\tip6-allrouters
                """);
        String names = names(pod, clusterDomain);
        podIps.forEach(ip -> text.append(ip).append('\t').append(names).append('\n'));
        return text.append(aliases(pod)).toString();
    }

    /** The content for a pod on the host's network: the node's own file and the pod's aliases. */
    public static String ofHost(Pod pod, String nodeFile) {
        return "# Kubernetes-managed hosts file (host network).\n" + nodeFile + aliases(pod);
    }

    private static String names(Pod pod, String clusterDomain) {
        String hostname = Sandboxes.hostname(pod);
        String subdomain = pod.spec().text("subdomain");
        return subdomain.isEmpty() || clusterDomain.isEmpty()
                ? hostname
                : String.join(".", hostname, subdomain, pod.namespace(), "svc", clusterDomain) + "\t" + hostname;
    }

    private static String aliases(Pod pod) {
        StringBuilder text = new StringBuilder();
        pod.spec()
                .array("hostAliases")
                .objects()
                .forEach(alias -> text.append(alias.text("ip"))
                        .append('\t')
                        .append(String.join(
                                "\t", alias.array("hostnames").strings().toList()))
                        .append('\n'));
        return text.isEmpty() ? "" : "\n# Entries added by HostAliases.\n" + text;
    }
}
