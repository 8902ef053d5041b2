package io.nodekeeper.cri.config;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The part of a sandbox's configuration that most sandboxes leave at its default. Immutable.
 *
 * @param hostname empty on the host's network
 * @param labels besides those of the pod's name, namespace and UID
 * @param annotations of the sandbox
 * @param dns empty for the runtime's own choice
 * @param ports that the network plugin maps to the host
 * @param cgroupParent empty for the runtime's own choice
 * @param namespaces which namespaces the pod shares with the host
 * @param security what the sandbox may do
 * @param size what the pod is limited to
 */
public record SandboxOptions(
        String hostname,
        Map<String, String> labels,
        Map<String, String> annotations,
        Optional<Dns> dns,
        List<Port> ports,
        String cgroupParent,
        Namespaces namespaces,
        Security security,
        Size size) {
    /** The longest hostname that Linux accepts. */
    public static final int MAX_HOSTNAME = 63;

    /** Keeps copies. */
    public SandboxOptions {
        labels = Map.copyOf(labels);
        annotations = Map.copyOf(annotations);
        ports = List.copyOf(ports);
    }

    /** The options of a sandbox with namespaces of its own; the hostname is {@code podName}, cut to 63 characters. */
    public static SandboxOptions named(String podName) {
        return new SandboxOptions(
                podName.substring(0, Math.min(podName.length(), MAX_HOSTNAME)),
                Map.of(),
                Map.of(),
                Optional.empty(),
                List.of(),
                "",
                Namespaces.OWN,
                Security.NONE,
                Size.UNKNOWN);
    }

    /**
     * What a sandbox may do, and what it sets in its namespaces.
     *
     * @param privileged whether a container of the pod is privileged
     * @param sysctls name → value, with dots between the parts of the name
     * @param selinux empty for the runtime's choice
     */
    public record Security(boolean privileged, Map<String, String> sysctls, Optional<SelinuxLabel> selinux) {
        /** Nothing special. */
        public static final Security NONE = new Security(false, Map.of(), Optional.empty());

        /** Keeps a copy. */
        public Security {
            sysctls = Map.copyOf(sysctls);
        }
    }

    /**
     * How much a pod may use. Runtimes that put a pod into a virtual machine need it before there are containers.
     *
     * @param containers all of them together
     * @param overhead the sandbox itself
     */
    public record Size(Optional<ContainerConfig.Resources> containers, Optional<ContainerConfig.Resources> overhead) {
        /** Neither is known. */
        public static final Size UNKNOWN = new Size(Optional.empty(), Optional.empty());
    }

    /** The content of {@code resolv.conf} in the pod's containers. */
    public record Dns(List<String> servers, List<String> searches, List<String> options) {
        /** Keeps copies. */
        public Dns {
            servers = List.copyOf(servers);
            searches = List.copyOf(searches);
            options = List.copyOf(options);
        }
    }

    /**
     * A port of the host that leads to a port of the pod.
     *
     * @param protocol {@code TCP}, {@code UDP} or {@code SCTP}
     * @param hostIp empty for all addresses
     */
    public record Port(String protocol, int containerPort, int hostPort, String hostIp) {}

    /**
     * The namespaces of a sandbox.
     *
     * @param hostNetwork whether the pod uses the host's network
     * @param hostPid whether its containers see the host's processes
     * @param hostIpc whether it uses the host's IPC
     * @param sharedPid whether its containers see each other's processes
     * @param targetContainer of one container: the container whose processes it sees instead, by the runtime's id
     */
    public record Namespaces(
            boolean hostNetwork,
            boolean hostPid,
            boolean hostIpc,
            boolean sharedPid,
            Optional<String> targetContainer) {
        /** Nothing is shared with the host; each container has its own processes, as in Kubernetes. */
        public static final Namespaces OWN = new Namespaces(false, false, false, false, Optional.empty());

        /** The same for a container that sees the processes of {@code container}. */
        public Namespaces targeting(String container) {
            return new Namespaces(hostNetwork, hostPid, hostIpc, sharedPid, Optional.of(container));
        }
    }
}
