package io.nodekeeper.agent.config;

import io.nodekeeper.agent.eviction.Threshold;
import io.nodekeeper.agent.problems.rules.RuleFile;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.Taint;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The configuration of an agent, built by {@link AgentConfigBuilder}. Defaults are those of Kubernetes' {@code
 * KubeletConfiguration}.
 *
 * @param nodeName the node's name, which is also its {@code kubernetes.io/hostname} label
 * @param rootDir the directory of what pods need after a restart of the agent; its file system counts as the node's ephemeral storage
 * @param certDir where issued certificates are kept ({@code --cert-dir}, {@code pki} in the root directory)
 * @param nodeIps no address, one, or one of each family
 * @param nodeLabels labels for a new Node besides the default ones
 * @param providerId {@code spec.providerID} of a new Node; may be empty
 * @param externalCloudProvider whether a cloud controller sets addresses and lifts the uninitialized taint
 * @param syncFrequency twice this the loop may be silent before {@code /healthz} fails, 5 min at least (1 min)
 * @param nodeStatusUpdateFrequency the period of status updates (10 s)
 * @param nodeStatusReportFrequency between two reports of an unchanged status (5 min)
 * @param nodeLeaseDurationSeconds the duration of the lease (40 s); it is renewed every quarter of that
 * @param maxPods pods at most (110)
 * @param podsPerCore pods for each core at most; 0 for no such limit
 * @param registerNode whether the agent creates its Node
 * @param registerWithTaints taints for a new Node
 * @param enableControllerAttachDetach whether the control plane attaches volumes
 * @param localStorageCapacityIsolation whether a node without known ephemeral storage is not ready
 * @param kubeReserved resource → amount kept for the node's Kubernetes processes
 * @param systemReserved resource → amount kept for the rest of the system
 * @param thresholds eviction thresholds, hard and soft
 * @param evictionPressureTransitionPeriod how long a pressure lasts after it was last seen (5 min)
 * @param problemRules rules for the kernel's log besides the built-in ones
 * @param runtime options for the container runtime
 * @param pods options for the pods that the agent runs
 * @param serving the address of the pages
 * @param nodeApi options of the node's API
 * @param shutdown how long a shutdown of the machine is delayed for pods
 * @param rotatesCertificates whether the client certificate of the kubeconfig is renewed (false)
 * @param gates which feature gates are on
 */
public record AgentConfig(
        String nodeName,
        Path rootDir,
        Path certDir,
        List<InetAddress> nodeIps,
        Map<String, String> nodeLabels,
        String providerId,
        boolean externalCloudProvider,
        Duration syncFrequency,
        Duration nodeStatusUpdateFrequency,
        Duration nodeStatusReportFrequency,
        int nodeLeaseDurationSeconds,
        int maxPods,
        int podsPerCore,
        boolean registerNode,
        List<Taint> registerWithTaints,
        boolean enableControllerAttachDetach,
        boolean localStorageCapacityIsolation,
        Map<String, Quantity> kubeReserved,
        Map<String, Quantity> systemReserved,
        List<Threshold> thresholds,
        Duration evictionPressureTransitionPeriod,
        List<RuleFile> problemRules,
        RuntimeConfig runtime,
        PodConfig pods,
        ServingConfig serving,
        NodeApiConfig nodeApi,
        ShutdownConfig shutdown,
        boolean rotatesCertificates,
        AgentFeatures gates) {

    /** Normalizes a host name or its override to a node name: trimmed, lower case. */
    public static String nodeName(String hostname) {
        return hostname.strip().toLowerCase(Locale.ROOT);
    }

    /** How often the lease is renewed: four times within its duration, as Kubernetes does. */
    public Duration leaseInterval() {
        return Duration.ofSeconds(nodeLeaseDurationSeconds).dividedBy(4);
    }
}
