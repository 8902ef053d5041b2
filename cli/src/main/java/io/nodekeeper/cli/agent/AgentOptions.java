package io.nodekeeper.cli.agent;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.agent.config.ConfigFile;
import io.nodekeeper.agent.config.RuntimeConfig;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.Arguments;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.options.GateOptions;
import io.nodekeeper.cli.options.HeartbeatOptions;
import io.nodekeeper.time.GoDuration;
import java.net.InetAddress;
import java.net.UnknownHostException;
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

/** What an agent can be told, the way to its API server aside. Names are the kubelet's. */
public final class AgentOptions implements Checked {
    /** The gates and what each is good for, for the help. */
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

    @Option(
            names = {"--node-name", "--hostname-override"},
            paramLabel = "NAME",
            description = "The node's name. Default: this machine's host name, in lower case.")
    public Optional<String> nodeName = Optional.empty();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "A KubeletConfiguration (YAML or JSON), of which the fields that concern node health count."
                    + " Flags go before it.")
    Optional<Path> config = Optional.empty();

    @Mixin
    public HeartbeatOptions heartbeat = new HeartbeatOptions();

    @Option(
            names = "--container-runtime-endpoint",
            paramLabel = "unix://SOCKET|none",
            description = "The container runtime's socket. Default: containerd's usual one if it is there, else none.")
    Optional<String> runtimeEndpoint = Optional.empty();

    @Option(
            names = "--network-probe-interval",
            paramLabel = "DURATION",
            defaultValue = "0s",
            converter = DurationConverter.class,
            description = "How long after a probe of the pod network the next one begins: a sandbox is set up and taken"
                    + " down, and the node's condition PodNetworkUnavailable says how that went. At least 10s; 0 for"
                    + " none. Default: ${DEFAULT-VALUE}.")
    Duration networkProbeInterval = Duration.ZERO;

    @Option(
            names = "--healthz-port",
            paramLabel = "PORT",
            description = "Where to serve /healthz, /readyz, /metrics and /debug over plain HTTP; 0 for nowhere."
                    + " Default: 10248, or any free port if that is taken.")
    Optional<Integer> healthzPort = Optional.empty();

    @Option(
            names = "--healthz-bind-address",
            paramLabel = "ADDRESS",
            description = "The address of that port. Default: 127.0.0.1.")
    Optional<String> healthzBindAddress = Optional.empty();

    /** Set by the command. */
    public GateOptions gates = new GateOptions("", AgentFeature.names());

    @Option(
            names = "--node-ip",
            paramLabel = "ADDRESS",
            description = "The address that the node reports. Default: that of the way to the API server.")
    Optional<String> nodeIp = Optional.empty();

    @Option(
            names = "--node-labels",
            split = ",",
            paramLabel = "KEY=VALUE",
            description = "Labels that the node is registered with, separated by commas.")
    Map<String, String> labels = new LinkedHashMap<>();

    @Option(
            names = "--register-with-taints",
            split = ",",
            paramLabel = "KEY=VALUE:EFFECT",
            description = "Taints that the node is registered with, separated by commas.")
    List<String> taints = new ArrayList<>();

    @Option(
            names = "--register-node",
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "true",
            fallbackValue = "true",
            description = "Whether to create the Node object if there is none. Default: ${DEFAULT-VALUE}.")
    public boolean registerNode = true;

    @Option(
            names = "--root-dir",
            paramLabel = "DIR",
            defaultValue = "/var/lib/nodekeeper",
            description = "Where the agent keeps what must survive its restart; its file system is the one watched for"
                    + " disk pressure. Default: ${DEFAULT-VALUE}.")
    Path rootDir = Path.of("/var/lib/nodekeeper");

    @Override
    public void check(Faults faults) {
        nodeName.ifPresent(name -> faults.name("--node-name", name, 253));
        faults.readable("--config", config);
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
        nodeIp.ifPresent(text -> checkNodeIp(text, faults));
        labels.forEach((key, value) -> {
            Names.qualifiedFault(key)
                    .ifPresent(fault -> faults.require(false, "--node-labels has the key \"" + key + "\": " + fault));
            Names.labelValueFault(value)
                    .ifPresent(
                            fault -> faults.require(false, "--node-labels has the value \"" + value + "\": " + fault));
        });
        gates.check(faults);
        for (String taint : taints) {
            faults.require(
                    isTaint(taint),
                    "--register-with-taints has \"" + taint
                            + "\"; expected KEY=VALUE:EFFECT with NoSchedule, PreferNoSchedule or NoExecute");
        }
    }

    private static void checkNodeIp(String text, Faults faults) {
        List<String> addresses =
                Arrays.stream(text.split(",", -1)).map(String::strip).toList();
        faults.require(
                addresses.size() <= 2 && addresses.stream().allMatch(Arguments::isAddress),
                "--node-ip is \"" + text + "\"; expected an IP address, or two separated by a comma");
    }

    /** Whether the API accepts it: {@code KEY=VALUE:EFFECT} or {@code KEY:EFFECT}. */
    private static boolean isTaint(String text) {
        Matcher taint = TAINT.matcher(text);
        return taint.matches()
                && Names.qualifiedFault(taint.group(1)).isEmpty()
                && Names.labelValueFault(Optional.ofNullable(taint.group(2)).orElse(""))
                        .isEmpty();
    }

    /**
     * The configuration: the file if there is one, then the flags, which take precedence.
     *
     * @throws io.nodekeeper.agent.config.ConfigException listing every fault
     */
    AgentConfig config(String name) {
        AgentConfigBuilder builder = new AgentConfigBuilder(name);
        config.ifPresent(file -> ConfigFile.load(file, builder));
        configure(builder);
        return builder.build();
    }

    /** Sets every option whose flag was given. */
    void configure(AgentConfigBuilder builder) {
        heartbeat.configure(builder);
        runtimeEndpoint.ifPresent(builder::containerRuntimeEndpoint);
        healthzPort.ifPresent(builder::healthzPort);
        healthzBindAddress.ifPresent(builder::healthzBindAddress);
        nodeIp.ifPresent(ip -> builder.nodeIps(addresses(ip)));
        if (!labels.isEmpty()) {
            builder.nodeLabels(labels);
        }
        if (!taints.isEmpty()) {
            builder.registerWithTaints(taints.stream().map(AgentOptions::taint).toList());
        }
        builder.networkProbeInterval(networkProbeInterval)
                .featureGates(gates.switches())
                .registerNode(registerNode)
                .rootDir(existing(rootDir));
    }

    /** The directory, or the nearest one above it that is there: the file system is what counts. */
    private static Path existing(Path directory) {
        Path path = directory.toAbsolutePath();
        while (path != null && !Files.isDirectory(path)) {
            path = path.getParent();
        }
        return path == null ? Path.of("/") : path;
    }

    private static List<InetAddress> addresses(String text) {
        return List.of(text.split(",")).stream()
                .map(String::strip)
                .map(address -> {
                    if (!Arguments.isAddress(address)) {
                        throw new IllegalArgumentException(
                                "--node-ip is \"" + text + "\"; expected an IP address, or two separated by a comma");
                    }
                    try {
                        return InetAddress.getByName(address);
                    } catch (UnknownHostException e) {
                        throw new IllegalArgumentException(
                                "--node-ip has \"" + address + "\", which is no IP address", e);
                    }
                })
                .toList();
    }

    /** A taint as flags write it: {@code key=value:Effect} or {@code key:Effect}. */
    private static Taint taint(String text) {
        int colon = text.lastIndexOf(':');
        int equals = text.indexOf('=');
        boolean valued = equals >= 0 && equals < colon;
        return new Taint(JsonObject.builder()
                .put("key", text.substring(0, valued ? equals : colon))
                .putUnlessEmpty("value", valued ? text.substring(equals + 1, colon) : "")
                .put("effect", text.substring(colon + 1))
                .build());
    }
}
