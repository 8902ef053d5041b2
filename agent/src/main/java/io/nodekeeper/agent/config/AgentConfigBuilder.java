package io.nodekeeper.agent.config;

import io.nodekeeper.agent.eviction.Threshold;
import io.nodekeeper.agent.eviction.Thresholds;
import io.nodekeeper.agent.problems.rules.RuleFile;
import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.api.Taint;
import io.nodekeeper.time.GoDuration;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Builds an {@link AgentConfig}: first from the file ({@link ConfigFile}), then from flags, which take precedence.
 * Not thread-safe.
 */
public final class AgentConfigBuilder {
    /** The kubelet's default port. */
    private static final int HEALTHZ_PORT = 10_248;

    private final String nodeName;
    private Path rootDir = Path.of("/var/lib/kubelet");
    private Optional<Path> certDir = Optional.empty();
    private List<InetAddress> nodeIps = List.of();
    private Map<String, String> nodeLabels = Map.of();
    private String providerId = "";
    private Duration syncFrequency = Duration.ofMinutes(1);
    private boolean externalCloudProvider;
    private Duration updateFrequency = Duration.ofSeconds(10);
    private Duration reportFrequency = Duration.ofMinutes(5);
    private long leaseDurationSeconds = 40;
    private long maxPods = 110;
    private long podsPerCore;
    private boolean registerNode = true;
    private List<Taint> registerWithTaints = List.of();
    private boolean enableControllerAttachDetach = true;
    private boolean localStorageCapacityIsolation = true;
    private Map<String, String> kubeReserved = Map.of();
    private Map<String, String> systemReserved = Map.of();
    private Optional<Map<String, String>> evictionHard = Optional.empty();
    private boolean mergeDefaultEvictionSettings;
    private Map<String, String> evictionSoft = Map.of();
    private Map<String, String> evictionSoftGracePeriod = Map.of();
    private Map<String, String> evictionMinimumReclaim = Map.of();
    private Duration evictionPressureTransitionPeriod = Duration.ofMinutes(5);
    private List<RuleFile> problemRules = List.of();
    private Optional<String> runtimeEndpoint = Optional.empty();
    private Duration runtimeRequestTimeout = Duration.ofMinutes(2);
    private long nodeStatusMaxImages = 50;
    private Duration networkProbeInterval = Duration.ZERO;
    private PodConfig pods = PodConfig.DEFAULT;
    private NodeApiConfig nodeApi = NodeApiConfig.DEFAULT;
    private ShutdownConfig shutdown = ShutdownConfig.NONE;
    private String healthzBindAddress = "127.0.0.1";
    private OptionalLong healthzPort = OptionalLong.empty();
    private long kubeletPort = 10_250;
    private final Map<String, Boolean> featureGates = new LinkedHashMap<>();
    private List<String> unsupported = List.of();
    private boolean rotatesCertificates;

    /** Every option has its default; {@code nodeName} is checked by {@link #build()}. */
    public AgentConfigBuilder(String nodeName) {
        this.nodeName = nodeName;
    }

    /** {@code --root-dir}. */
    public AgentConfigBuilder rootDir(Path value) {
        rootDir = value;
        return this;
    }

    /** {@code --cert-dir}. */
    public AgentConfigBuilder certDir(Path value) {
        certDir = Optional.of(value);
        return this;
    }

    /** {@code --node-ip}. */
    public AgentConfigBuilder nodeIps(List<InetAddress> value) {
        nodeIps = List.copyOf(value);
        return this;
    }

    /** {@code --node-labels}. */
    public AgentConfigBuilder nodeLabels(Map<String, String> value) {
        nodeLabels = new LinkedHashMap<>(value);
        return this;
    }

    /** {@code --provider-id}. */
    public AgentConfigBuilder providerId(String value) {
        providerId = value;
        return this;
    }

    /** {@code --cloud-provider=external}. */
    public AgentConfigBuilder externalCloudProvider(boolean value) {
        externalCloudProvider = value;
        return this;
    }

    /** {@code syncFrequency}. */
    public AgentConfigBuilder syncFrequency(Duration value) {
        syncFrequency = value;
        return this;
    }

    /** {@code nodeStatusUpdateFrequency}. */
    public AgentConfigBuilder nodeStatusUpdateFrequency(Duration value) {
        updateFrequency = value;
        return this;
    }

    /** {@code nodeStatusReportFrequency}. */
    public AgentConfigBuilder nodeStatusReportFrequency(Duration value) {
        reportFrequency = value;
        return this;
    }

    /** {@code nodeLeaseDurationSeconds}. */
    public AgentConfigBuilder nodeLeaseDurationSeconds(long value) {
        leaseDurationSeconds = value;
        return this;
    }

    /** {@code maxPods}. */
    public AgentConfigBuilder maxPods(long value) {
        maxPods = value;
        return this;
    }

    /** {@code podsPerCore}. */
    public AgentConfigBuilder podsPerCore(long value) {
        podsPerCore = value;
        return this;
    }

    /** {@code registerNode}. */
    public AgentConfigBuilder registerNode(boolean value) {
        registerNode = value;
        return this;
    }

    /** {@code registerWithTaints}. */
    public AgentConfigBuilder registerWithTaints(List<Taint> value) {
        registerWithTaints = List.copyOf(value);
        return this;
    }

    /** {@code enableControllerAttachDetach}. */
    public AgentConfigBuilder enableControllerAttachDetach(boolean value) {
        enableControllerAttachDetach = value;
        return this;
    }

    /** {@code localStorageCapacityIsolation}. */
    public AgentConfigBuilder localStorageCapacityIsolation(boolean value) {
        localStorageCapacityIsolation = value;
        return this;
    }

    /** {@code kubeReserved}: resource → quantity. */
    public AgentConfigBuilder kubeReserved(Map<String, String> value) {
        kubeReserved = new LinkedHashMap<>(value);
        return this;
    }

    /** {@code systemReserved}: resource → quantity. */
    public AgentConfigBuilder systemReserved(Map<String, String> value) {
        systemReserved = new LinkedHashMap<>(value);
        return this;
    }

    /** {@code evictionHard}: signal → quantity or percentage. The defaults apply only without it; even an empty map drops them. */
    public AgentConfigBuilder evictionHard(Map<String, String> value) {
        evictionHard = Optional.of(new LinkedHashMap<>(value));
        return this;
    }

    /** {@code mergeDefaultEvictionSettings}: keeps the defaults that {@code evictionHard} does not name. */
    public AgentConfigBuilder mergeDefaultEvictionSettings(boolean value) {
        mergeDefaultEvictionSettings = value;
        return this;
    }

    /** {@code evictionSoft}: signal → quantity or percentage. */
    public AgentConfigBuilder evictionSoft(Map<String, String> value) {
        evictionSoft = new LinkedHashMap<>(value);
        return this;
    }

    /** {@code evictionMinimumReclaim}. */
    public AgentConfigBuilder evictionMinimumReclaim(Map<String, String> value) {
        evictionMinimumReclaim = Map.copyOf(value);
        return this;
    }

    /** {@code evictionSoftGracePeriod}: signal → duration. */
    public AgentConfigBuilder evictionSoftGracePeriod(Map<String, String> value) {
        evictionSoftGracePeriod = new LinkedHashMap<>(value);
        return this;
    }

    /** {@code evictionPressureTransitionPeriod}. */
    public AgentConfigBuilder evictionPressureTransitionPeriod(Duration value) {
        evictionPressureTransitionPeriod = value;
        return this;
    }

    /** {@code --problem-rules}. */
    public AgentConfigBuilder problemRules(List<RuleFile> value) {
        problemRules = List.copyOf(value);
        return this;
    }

    /** {@code containerRuntimeEndpoint}: {@code unix:///PATH} or {@code none}. */
    public AgentConfigBuilder containerRuntimeEndpoint(String value) {
        runtimeEndpoint = Optional.of(value);
        return this;
    }

    /** {@code runtimeRequestTimeout}. */
    public AgentConfigBuilder runtimeRequestTimeout(Duration value) {
        runtimeRequestTimeout = value;
        return this;
    }

    /** {@code nodeStatusMaxImages}; -1 for all. */
    public AgentConfigBuilder nodeStatusMaxImages(long value) {
        nodeStatusMaxImages = value;
        return this;
    }

    /** {@code --network-probe-interval}; zero for no probes. */
    public AgentConfigBuilder networkProbeInterval(Duration value) {
        networkProbeInterval = value;
        return this;
    }

    /** The options for pods. */
    public AgentConfigBuilder pods(PodConfig value) {
        pods = value;
        return this;
    }

    /** {@code cgroupRoot}. */
    public AgentConfigBuilder cgroupRoot(String value) {
        pods = pods.with(pods.cgroups().below(value));
        return this;
    }

    /** {@code cgroupsPerQOS}. */
    public AgentConfigBuilder cgroupsPerQos(boolean value) {
        pods = pods.with(pods.cgroups().perQos(value));
        return this;
    }

    /** {@code allowedUnsafeSysctls}. */
    public AgentConfigBuilder allowedUnsafeSysctls(List<SysctlPattern> value) {
        pods = pods.with(pods.security().with(value));
        return this;
    }

    /** {@code seccompDefault}. */
    public AgentConfigBuilder seccompDefault(boolean value) {
        pods = pods.with(pods.security().seccompDefault(value));
        return this;
    }

    /** {@code shutdownGracePeriod} and its relatives. */
    public AgentConfigBuilder shutdown(ShutdownConfig value) {
        shutdown = value;
        return this;
    }

    /** The options of the node's API. */
    public AgentConfigBuilder nodeApi(NodeApiConfig value) {
        nodeApi = value;
        return this;
    }

    /** {@code address}: where the node's API listens. */
    public AgentConfigBuilder address(InetAddress value) {
        nodeApi = nodeApi.at(value);
        return this;
    }

    /** {@code healthzBindAddress}. */
    public AgentConfigBuilder healthzBindAddress(String value) {
        healthzBindAddress = value;
        return this;
    }

    /** {@code port}: the port of the kubelet API that the Node's status names (10250). */
    public AgentConfigBuilder kubeletPort(long value) {
        kubeletPort = value;
        return this;
    }

    /** {@code healthzPort}; 0 for no pages. */
    public AgentConfigBuilder healthzPort(long value) {
        healthzPort = OptionalLong.of(value);
        return this;
    }

    /** {@code featureGates}: name → on or off; gates that are not in {@code value} keep their state. */
    public AgentConfigBuilder featureGates(Map<String, Boolean> value) {
        featureGates.putAll(value);
        return this;
    }

    /** {@code rotateCertificates}. */
    public AgentConfigBuilder rotatesCertificates(boolean value) {
        rotatesCertificates = value;
        return this;
    }

    /** What the file asks for and an agent that runs pods cannot do, one message each. */
    AgentConfigBuilder unsupported(List<String> value) {
        unsupported = List.copyOf(value);
        return this;
    }

    /**
     * The configuration.
     *
     * @throws ConfigException listing every fault
     */
    public AgentConfig build() {
        List<String> faults = new ArrayList<>();
        AgentConfig config = build(faults);
        if (!faults.isEmpty()) {
            throw new ConfigException(faults);
        }
        return config;
    }

    /** The configuration, with defaults in place of invalid values; adds each fault to {@code faults}. */
    AgentConfig build(List<String> faults) {
        RegistrationChecks.name(nodeName, faults);
        positive("syncFrequency", syncFrequency, faults);
        positive("nodeStatusUpdateFrequency", updateFrequency, faults);
        positive("nodeStatusReportFrequency", reportFrequency, faults);
        range("nodeLeaseDurationSeconds", leaseDurationSeconds, 1, faults);
        range("maxPods", maxPods, 0, faults);
        range("podsPerCore", podsPerCore, 0, faults);
        if (evictionPressureTransitionPeriod.isNegative()) {
            faults.add("evictionPressureTransitionPeriod must not be negative, got "
                    + GoDuration.format(evictionPressureTransitionPeriod));
        }
        RegistrationChecks.addresses(nodeIps, faults);
        RegistrationChecks.labels(nodeLabels, faults);
        RegistrationChecks.taints(registerWithTaints, faults);
        List<Threshold> thresholds = Thresholds.read(
                evictionHard.orElse(Map.of()),
                evictionHard.isPresent(),
                mergeDefaultEvictionSettings,
                evictionSoft,
                evictionSoftGracePeriod,
                evictionMinimumReclaim,
                faults);
        AgentFeatures gates = AgentFeatures.of(featureGates);
        if (gates.has(AgentFeature.POD_LIFECYCLE)) {
            faults.addAll(unsupported);
        }
        if (!shutdown.groups().isEmpty() && !gates.has(AgentFeature.GRACEFUL_NODE_SHUTDOWN)) {
            faults.add("shutdownGracePeriod requires feature gate GracefulNodeShutdown; expected 0s while it is off");
        }
        if (gates.has(AgentFeature.POD_LIFECYCLE) && pods.cgroups().enforces()) {
            thresholds = Thresholds.withAllocatable(thresholds);
        }
        return new AgentConfig(
                nodeName,
                rootDir,
                certDir.orElse(rootDir.resolve("pki")),
                nodeIps,
                nodeLabels,
                providerId,
                externalCloudProvider,
                syncFrequency,
                updateFrequency,
                reportFrequency,
                (int) leaseDurationSeconds,
                (int) maxPods,
                (int) podsPerCore,
                registerNode,
                registerWithTaints,
                enableControllerAttachDetach,
                localStorageCapacityIsolation,
                ReservedResources.kube(kubeReserved, pods.cpus(), faults),
                ReservedResources.system(systemReserved, pods.cpus(), faults),
                thresholds,
                evictionPressureTransitionPeriod,
                problemRules,
                runtime(gates, faults),
                pods,
                serving(faults),
                nodeApi(faults),
                shutdown,
                rotatesCertificates,
                gates);
    }

    private RuntimeConfig runtime(AgentFeatures gates, List<String> faults) {
        runtimeEndpoint
                .filter(endpoint -> !RuntimeConfig.isEndpoint(endpoint))
                .ifPresent(endpoint ->
                        faults.add("containerRuntimeEndpoint must be unix:///PATH or none, got \"" + endpoint + "\""));
        positive("runtimeRequestTimeout", runtimeRequestTimeout, faults);
        range("nodeStatusMaxImages", nodeStatusMaxImages, -1, faults);
        if (!networkProbeInterval.isZero() && networkProbeInterval.compareTo(RuntimeConfig.LEAST_PROBE_INTERVAL) < 0) {
            faults.add("network-probe-interval must be 0, or " + GoDuration.format(RuntimeConfig.LEAST_PROBE_INTERVAL)
                    + " or more, got " + GoDuration.format(networkProbeInterval));
        }
        RuntimeConfig runtime = new RuntimeConfig(
                runtimeEndpoint, runtimeRequestTimeout, (int) nodeStatusMaxImages, networkProbeInterval);
        if (runtime.isDocker() && runtime.probesNetwork()) {
            faults.add("network-probe-interval must be 0 with Docker Engine at " + runtimeEndpoint.orElse("")
                    + ", which creates no sandboxes for the agent, got " + GoDuration.format(networkProbeInterval));
        }
        if (runtime.isDocker() && gates.has(AgentFeature.POD_LIFECYCLE)) {
            faults.add("feature gate PodLifecycle must be false with Docker Engine at " + runtimeEndpoint.orElse("")
                    + ", whose pods are only watched");
        }
        return runtime;
    }

    private ServingConfig serving(List<String> faults) {
        if (kubeletPort < 1 || kubeletPort > 65_535) {
            faults.add("port must be from 1 to 65535, got " + kubeletPort);
        }
        long port = healthzPort.orElse(HEALTHZ_PORT);
        if (port < 0 || port > 65_535) {
            faults.add("healthzPort must be from 0 to 65535, got " + port);
        }
        Optional<InetAddress> address = IpLiteral.of(healthzBindAddress);
        if (address.isEmpty()) {
            faults.add("healthzBindAddress must be an IP address, got \"" + healthzBindAddress + "\"");
        }
        int ownPort = (int) kubeletPort;
        return new ServingConfig(
                address.orElseGet(InetAddress::getLoopbackAddress), (int) port, healthzPort.isEmpty(), ownPort);
    }

    private NodeApiConfig nodeApi(List<String> faults) {
        if (nodeApi.certificate().isPresent() != nodeApi.key().isPresent()) {
            faults.add("tlsCertFile and tlsPrivateKeyFile belong together; expected both or neither");
        }
        if (nodeApi.issued() && nodeApi.certificate().isPresent()) {
            faults.add("serverTLSBootstrap excludes tlsCertFile and tlsPrivateKeyFile");
        }
        if (nodeApi.issued() && !featureGates.getOrDefault("RotateKubeletServerCertificate", true)) {
            faults.add("serverTLSBootstrap requires feature gate RotateKubeletServerCertificate");
        }
        return nodeApi;
    }

    private static void positive(String field, Duration value, List<String> faults) {
        if (!value.isPositive()) {
            faults.add(field + " must be greater than 0, got " + GoDuration.format(value));
        }
    }

    private static void range(String field, long value, int least, List<String> faults) {
        if (value < least || value > Integer.MAX_VALUE) {
            faults.add(field + " must be from " + least + " to " + Integer.MAX_VALUE + ", got " + value);
        }
    }
}
