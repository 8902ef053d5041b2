package io.nodekeeper.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What an agent can be told, the way to its API server aside. Names are the kubelet's. */
final class AgentOptions implements Checked {
    /** A DNS subdomain (RFC 1123), as the API demands of node names. */
    static final Pattern NODE_NAME =
            Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");

    private static final Pattern TAINT = Pattern.compile("[^=:]+(=[^:]*)?:(NoSchedule|PreferNoSchedule|NoExecute)");

    @Option(
            names = {"--node-name", "--hostname-override"},
            paramLabel = "NAME",
            description = "The node's name. Default: this machine's host name, in lower case.")
    Optional<String> nodeName = Optional.empty();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "A KubeletConfiguration (YAML or JSON), of which the fields that concern node health count."
                    + " Flags go before it.")
    Optional<Path> config = Optional.empty();

    @Mixin
    HeartbeatOptions heartbeat = new HeartbeatOptions();

    @Option(
            names = "--container-runtime-endpoint",
            paramLabel = "unix://SOCKET|none",
            description = "The container runtime's socket. Default: containerd's usual one if it is there, else none.")
    Optional<String> runtimeEndpoint = Optional.empty();

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
    boolean registerNode = true;

    @Option(
            names = "--root-dir",
            paramLabel = "DIR",
            defaultValue = "/var/lib/nodekeeper",
            description = "Where the agent keeps what must survive its restart; its file system is the one watched for"
                    + " disk pressure. Default: ${DEFAULT-VALUE}.")
    Path rootDir = Path.of("/var/lib/nodekeeper");

    @Override
    public void check(Faults faults) {
        nodeName.ifPresent(name -> faults.require(
                name.length() <= 253 && NODE_NAME.matcher(name).matches(),
                "--node-name is \"" + name
                        + "\"; expected lower case letters, digits, - and . (RFC 1123), at most 253"));
        faults.readable("--config", config);
        heartbeat.check(faults);
        runtimeEndpoint.ifPresent(endpoint -> faults.require(
                endpoint.equals("none") || endpoint.startsWith("unix:///"),
                "--container-runtime-endpoint is \"" + endpoint + "\"; expected unix:///PATH or none"));
        for (String taint : taints) {
            faults.require(
                    TAINT.matcher(taint).matches(),
                    "--register-with-taints has \"" + taint
                            + "\"; expected KEY=VALUE:EFFECT with NoSchedule, PreferNoSchedule or NoExecute");
        }
    }
}
