package io.nodekeeper.cli.agent;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.agent.config.CgroupConfig;
import io.nodekeeper.agent.config.ConfigFile;
import io.nodekeeper.agent.config.RuntimeConfig;
import io.nodekeeper.agent.config.SysctlPattern;
import io.nodekeeper.agent.problems.rules.RuleFileReader;
import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.options.GateOptions;
import io.nodekeeper.cli.options.HeartbeatOptions;
import io.nodekeeper.cli.pages.PagesOptions;
import io.nodekeeper.client.files.SmallFiles;
import io.nodekeeper.time.GoDuration;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags of an agent, without those for its API server. Names are the kubelet's. */
public final class AgentOptions implements Checked {
    /** The gates and their purpose, for the help. */
    public static final class Gates extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        public Gates() {
            super(Arrays.stream(AgentFeature.values())
                    .map(gate -> gate.text() + (gate.byDefault() ? " (on: " : " (off: ") + gate.purpose() + ")")
                    .toList());
        }
    }

    private static final Pattern TAINT =
            Pattern.compile("([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)");

    /** The only cloud provider that kubelets know since Kubernetes 1.27. */
    private static final String EXTERNAL = "external";

    @Option(
            names = {"--node-name", "--hostname-override"},
            paramLabel = "NAME",
            description = "The node's name. Default: this machine's host name, in lower case.")
    public Optional<String> nodeName = Optional.empty();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "A KubeletConfiguration file (YAML or JSON). docs/kubelet-configuration.md says which fields"
                    + " are supported. Flags take precedence.")
    Optional<Path> config = Optional.empty();

    @Option(
            names = "--config-dir",
            paramLabel = "DIR",
            description =
                    "A directory of files *.conf, each a KubeletConfiguration, which are merged into that of --config in"
                            + " the order of their names. Flags take precedence.")
    Optional<Path> configDir = Optional.empty();

    @Mixin
    public HeartbeatOptions heartbeat = new HeartbeatOptions();

    @Option(
            names = "--container-runtime-endpoint",
            paramLabel = "unix://SOCKET|none",
            description = "The container runtime's socket. Default: containerd's default socket if it exists, else"
                    + " none.")
    Optional<String> runtimeEndpoint = Optional.empty();

    @Option(
            names = "--network-probe-interval",
            paramLabel = "DURATION",
            defaultValue = "0s",
            converter = DurationConverter.class,
            description = "The time between two probes of the pod network. A probe creates and removes a pod"
                    + " sandbox; the node condition PodNetworkUnavailable reports the result. At least 10s; 0 for no"
                    + " probes. Default: ${DEFAULT-VALUE}.")
    Duration networkProbeInterval = Duration.ZERO;

    @Option(
            names = "--problem-rules",
            split = ",",
            paramLabel = "FILE",
            description = "Rules for the kernel's log in node-problem-detector's JSON format (plugin kmsg), besides the"
                    + " built-in ones. Temporary problems become events, permanent ones conditions. Several files"
                    + " are separated by commas.")
    List<Path> problemRules = new ArrayList<>();

    @Option(
            names = "--healthz-port",
            paramLabel = "PORT",
            description = "The port that serves /healthz, /readyz, /metrics and /debug; 0 for none."
                    + " Default: 10248, or any free port if that is taken; with --mode companion 20248.")
    Optional<Integer> healthzPort = Optional.empty();

    @Option(
            names = "--healthz-bind-address",
            paramLabel = "ADDRESS",
            description =
                    "The address for --healthz-port. Other addresses than loopback are served with TLS, to users whom"
                            + " the cluster lets in. Default: 127.0.0.1.")
    Optional<String> healthzBindAddress = Optional.empty();

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "The port of the node's API, which the agent serves with the gate PodLifecycle."
                    + " Default: 10250.")
    Optional<Integer> port = Optional.empty();

    @Option(
            names = "--address",
            paramLabel = "ADDRESS",
            description = "The address for --port. Default: 0.0.0.0, which is all addresses.")
    Optional<String> address = Optional.empty();

    /** The command makes them flags; those of {@code up} are the API server's. */
    public final PagesOptions pages = new PagesOptions();

    /** The command sets it. */
    public GateOptions gates = new GateOptions("", AgentFeature.names());

    @Option(
            names = "--node-ip",
            paramLabel = "ADDRESS",
            description = "The address that the node reports. Default: this machine's address on the route to the"
                    + " API server.")
    Optional<String> nodeIp = Optional.empty();

    @Option(
            names = "--node-labels",
            split = ",",
            paramLabel = "KEY=VALUE",
            description = "Labels for the registration of the node, separated by commas.")
    Map<String, String> labels = new LinkedHashMap<>();

    @Option(
            names = "--register-with-taints",
            split = ",",
            paramLabel = "KEY=VALUE:EFFECT",
            description = "Taints for the registration of the node, separated by commas.")
    List<String> taints = new ArrayList<>();

    @Option(
            names = "--cgroup-root",
            paramLabel = "CGROUP",
            description = "The cgroup in which the cgroups of pods are made, with the gate PodLifecycle. It must exist."
                    + " Agents that run pods on one machine need one each. Default: /.")
    Optional<String> cgroupRoot = Optional.empty();

    @Option(
            names = "--cgroups-per-qos",
            arity = "0..1",
            paramLabel = "true|false",
            fallbackValue = "true",
            description = "Whether pods and their classes of service have cgroups of their own, with the gate"
                    + " PodLifecycle. Default: true.")
    Optional<Boolean> cgroupsPerQos = Optional.empty();

    @Option(
            names = "--allowed-unsafe-sysctls",
            split = ",",
            paramLabel = "SYSCTL",
            description = "Sysctls that pods may set besides the safe ones, with the gate PodLifecycle; separated by"
                    + " commas. A name may end with *. Default: none.")
    List<String> unsafeSysctls = new ArrayList<>();

    @Option(
            names = "--seccomp-default",
            arity = "0..1",
            paramLabel = "true|false",
            fallbackValue = "true",
            description = "Whether containers that ask for no seccomp profile have the runtime's, with the gate"
                    + " PodLifecycle. Default: false.")
    Optional<Boolean> seccompDefault = Optional.empty();

    @Option(
            names = "--cert-dir",
            paramLabel = "DIR",
            description = "The directory of the certificates that the cluster issues to the agent. Default: pki in"
                    + " --root-dir.")
    Optional<Path> certDir = Optional.empty();

    @Option(
            names = "--cloud-provider",
            paramLabel = "external",
            description = "external: a cloud controller sets the node's addresses. A new Node gets the taint"
                    + " node.cloudprovider.kubernetes.io/uninitialized, which that controller removes. Default: none.")
    String cloudProvider = "";

    @Option(
            names = "--register-node",
            arity = "0..1",
            paramLabel = "true|false",
            fallbackValue = "true",
            description = "Whether to create the Node object if it does not exist. Default: true.")
    public Optional<Boolean> registerNode = Optional.empty();

    @Option(
            names = "--provider-id",
            paramLabel = "ID",
            description =
                    "spec.providerID of a new Node: its machine's identity for a cloud controller. Default: none.")
    Optional<String> providerId = Optional.empty();

    @Option(
            names = "--root-dir",
            paramLabel = "DIR",
            defaultValue = "/var/lib/nodekeeper",
            description =
                    "The directory of the agent's state that must survive a restart, which an agent with PodLifecycle"
                            + " makes. Disk pressure is measured on its file system. Default: ${DEFAULT-VALUE};"
                            + " with --mode companion /var/lib/kubelet.")
    Path rootDir = Path.of("/var/lib/nodekeeper");

    @Override
    public void check(Faults faults) {
        nodeName.ifPresent(name -> faults.name("--node-name", name, 253));
        faults.readable("--config", config);
        configDir.ifPresent(directory -> faults.require(
                Files.isDirectory(directory), "--config-dir is " + directory + "; expected a directory"));
        certDir.ifPresent(directory -> faults.directory("--cert-dir", directory));
        heartbeat.check(faults);
        runtimeEndpoint.ifPresent(endpoint -> faults.require(
                RuntimeConfig.isEndpoint(endpoint),
                "--container-runtime-endpoint is \"" + endpoint + "\"; expected unix:///PATH or none"));
        runtimeEndpoint.ifPresent(endpoint -> faults.socket("--container-runtime-endpoint", endpoint));
        faults.require(
                networkProbeInterval.isZero()
                        || networkProbeInterval.compareTo(RuntimeConfig.LEAST_PROBE_INTERVAL) >= 0,
                "--network-probe-interval is " + GoDuration.format(networkProbeInterval) + "; expected 0s for none, or "
                        + GoDuration.format(RuntimeConfig.LEAST_PROBE_INTERVAL) + " or more");
        healthzPort.ifPresent(port -> faults.within("--healthz-port", port, 0, 65_535));
        healthzBindAddress.ifPresent(address -> faults.address("--healthz-bind-address", address));
        port.ifPresent(number -> faults.within("--port", number, 1, 65_535));
        address.ifPresent(text -> faults.address("--address", text));
        cgroupRoot.ifPresent(root -> faults.require(
                CgroupConfig.isRoot(root),
                "--cgroup-root is \"" + root + "\"; expected the absolute path of a cgroup, such as /name"));
        problemRules.forEach(file -> rules(file)
                .faults()
                .forEach(fault -> faults.require(false, "--problem-rules: " + file + ": " + fault)));
        faults.require(
                cloudProvider.isEmpty() || cloudProvider.equals(EXTERNAL),
                "--cloud-provider is \"" + cloudProvider + "\"; expected external, or nothing");
        nodeIp.ifPresent(text -> faults.require(
                addresses(text).isPresent(),
                "--node-ip is \"" + text + "\"; expected an IP address, or two separated by a comma"));
        labels.forEach((key, value) -> {
            Names.qualifiedFault(key)
                    .ifPresent(fault -> faults.require(false, "--node-labels has the key \"" + key + "\": " + fault));
            Names.labelValueFault(value)
                    .ifPresent(
                            fault -> faults.require(false, "--node-labels has the value \"" + value + "\": " + fault));
        });
        gates.check(faults);
        SysctlPattern.parse(unsafeSysctls, fault -> faults.require(false, "--allowed-unsafe-sysctls: " + fault));
        for (String taint : taints) {
            faults.require(
                    taint(taint).isPresent(),
                    "--register-with-taints has \"" + taint
                            + "\"; expected KEY=VALUE:EFFECT with NoSchedule, PreferNoSchedule or NoExecute");
        }
    }

    /**
     * The configuration: the file if there is one, then the flags, which take precedence.
     *
     * @throws io.nodekeeper.agent.config.ConfigException listing every fault
     */
    AgentConfig config(String name) {
        AgentConfigBuilder builder = new AgentConfigBuilder(name);
        if (config.isPresent() || configDir.isPresent()) {
            ConfigFile.load(config, configDir, builder);
        }
        configure(builder);
        return builder.build();
    }

    /** Sets every option whose flag was given. */
    void configure(AgentConfigBuilder builder) {
        heartbeat.configure(builder);
        runtimeEndpoint.ifPresent(builder::containerRuntimeEndpoint);
        healthzPort.ifPresent(builder::healthzPort);
        healthzBindAddress.ifPresent(builder::healthzBindAddress);
        port.ifPresent(builder::kubeletPort);
        address.flatMap(IpLiteral::of).ifPresent(builder::address);
        cgroupRoot.ifPresent(builder::cgroupRoot);
        cgroupsPerQos.ifPresent(builder::cgroupsPerQos);
        if (!unsafeSysctls.isEmpty()) {
            builder.allowedUnsafeSysctls(
                    unsafeSysctls.stream().map(SysctlPattern::of).toList());
        }
        seccompDefault.ifPresent(builder::seccompDefault);
        nodeIp.ifPresent(ip -> builder.nodeIps(addresses(ip).orElseThrow()));
        if (!labels.isEmpty()) {
            builder.nodeLabels(labels);
        }
        if (!taints.isEmpty()) {
            builder.registerWithTaints(
                    taints.stream().map(text -> taint(text).orElseThrow()).toList());
        }
        registerNode.ifPresent(builder::registerNode);
        providerId.ifPresent(builder::providerId);
        builder.networkProbeInterval(networkProbeInterval)
                .problemRules(problemRules.stream()
                        .flatMap(file -> rules(file).file().stream())
                        .toList())
                .featureGates(gates.switches())
                .externalCloudProvider(cloudProvider.equals(EXTERNAL))
                .rootDir(rootDir.toAbsolutePath())
                .certDir(certDir());
    }

    /** Where certificates are kept, also while the root directory does not exist. */
    Path certDir() {
        return certDir.orElse(rootDir.resolve("pki")).toAbsolutePath();
    }

    /** The rules in {@code file}, or its faults. */
    private static RuleFileReader.Result rules(Path file) {
        try {
            return RuleFileReader.read(SmallFiles.text(file));
        } catch (IOException e) {
            return new RuleFileReader.Result(Optional.empty(), List.of("cannot be read: " + e.getMessage()));
        }
    }

    /** One or two IP addresses separated by a comma; empty if {@code text} is anything else. Makes no DNS query. */
    private static Optional<List<InetAddress>> addresses(String text) {
        List<String> addresses =
                Arrays.stream(text.split(",", -1)).map(String::strip).toList();
        List<InetAddress> literal = addresses.stream()
                .flatMap(address -> IpLiteral.of(address).stream())
                .toList();
        return addresses.size() <= 2 && literal.size() == addresses.size() ? Optional.of(literal) : Optional.empty();
    }

    /** A taint as flags write it: {@code KEY=VALUE:EFFECT} or {@code KEY:EFFECT}; empty if the API would refuse it. */
    private static Optional<Taint> taint(String text) {
        Matcher parts = TAINT.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        String key = parts.group(1);
        String value = Optional.ofNullable(parts.group(2)).orElse("");
        if (Names.qualifiedFault(key).isPresent()
                || Names.labelValueFault(value).isPresent()) {
            return Optional.empty();
        }
        return Optional.of(new Taint(JsonObject.builder()
                .put("key", key)
                .putUnlessEmpty("value", value)
                .put("effect", parts.group(3))
                .build()));
    }
}
