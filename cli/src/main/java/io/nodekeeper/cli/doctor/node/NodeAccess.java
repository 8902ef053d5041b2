package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.KubeconfigException;
import io.nodekeeper.client.config.ServerAccess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The credentials of this machine's kubelet or agent.
 *
 * @param file the kubeconfig file; empty if there is none
 * @param access what is in it; empty if it cannot be used
 * @param fault why there is no access; empty if there is
 * @param nodeName the name in the client certificate, else the host name
 */
record NodeAccess(Optional<Path> file, Optional<ServerAccess> access, String fault, String nodeName) {
    /** Where the unit of Nodekeeper's agent has its own. */
    private static final Path AGENT = Path.of("/etc/nodekeeper/agent.kubeconfig");
    /** Where kubeadm, EKS and k3s keep the kubelet's, and last the agent's: beside a kubelet the agent may be a leftover. */
    private static final List<Path> USUAL = List.of(
            Path.of("/etc/kubernetes/kubelet.conf"),
            Path.of("/var/lib/kubelet/kubeconfig"),
            Path.of("/var/lib/rancher/k3s/agent/kubelet.kubeconfig"),
            AGENT);

    private static final Pattern NODE = Pattern.compile("(?:^|,)CN=system:node:([^,]+)");

    /** The access in {@code given}, or at the first usual place that has one. Reads files. */
    static NodeAccess find(Optional<Path> given) {
        return find(given, Files::isReadable);
    }

    /** The same; {@code isReadable} tells which files there are at the usual places. */
    static NodeAccess find(Optional<Path> given, Predicate<Path> isReadable) {
        Optional<Path> file = given.or(() -> USUAL.stream().filter(isReadable).findFirst());
        String host = LinuxHost.hostname().strip().toLowerCase(Locale.ROOT);
        if (file.isEmpty()) {
            return new NodeAccess(
                    file,
                    Optional.empty(),
                    "there is no kubeconfig at " + USUAL.getFirst() + " or " + AGENT + "; name one with --kubeconfig",
                    host);
        }
        try {
            ServerAccess access = Kubeconfig.load(file.get());
            return new NodeAccess(
                    file, Optional.of(access), "", nodeName(access).orElse(host));
        } catch (KubeconfigException e) {
            return new NodeAccess(file, Optional.empty(), String.valueOf(e.getMessage()), host);
        }
    }

    /** No access, because {@code file} could not be read for that reason. */
    static NodeAccess none(Optional<Path> file, String fault) {
        return new NodeAccess(
                file, Optional.empty(), fault, LinuxHost.hostname().strip().toLowerCase(Locale.ROOT));
    }

    /** Whether this machine has a node's credentials. */
    boolean isNode() {
        return file.isPresent();
    }

    /** The systemd unit of the process that has these credentials, for the commands to run next. */
    String unit() {
        return file.filter(AGENT::equals).isPresent() ? "nodekeeper-agent" : "kubelet";
    }

    private static Optional<String> nodeName(ServerAccess access) {
        return access.identity()
                .map(identity -> NODE.matcher(
                        identity.certificate().getSubjectX500Principal().getName()))
                .filter(Matcher::find)
                .map(matcher -> matcher.group(1));
    }
}
