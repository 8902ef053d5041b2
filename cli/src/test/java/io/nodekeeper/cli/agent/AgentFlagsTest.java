package io.nodekeeper.cli.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.agent.config.ConfigFile;
import io.nodekeeper.agent.config.SysctlPattern;
import io.nodekeeper.agent.problems.rules.RuleFile;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.controller.ControllerOptions;
import io.nodekeeper.cli.up.UpCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentFlagsTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final List<AgentOptions> launched = new ArrayList<>();
    private final List<ControllerOptions> controllers = new ArrayList<>();
    private final CommandRunner runner = new CommandRunner(
            List.of(
                    new AgentCommand(command -> {
                        launched.add(command.agent);
                        return 0;
                    }),
                    new UpCommand(command -> {
                        launched.add(command.agent);
                        controllers.add(command.controller);
                        return 0;
                    })),
            new PrintWriter(out),
            new PrintWriter(err));
    private Path kubeconfig = Path.of("kubeconfig");

    @BeforeEach
    void kubeconfig() throws IOException {
        kubeconfig = Files.createFile(directory.resolve("kubeconfig"));
    }

    @Test
    void defaultsAreTheKubelets() {
        AgentConfig config = configured("");

        assertThat(config.serving().address()).hasToString("Optional[/127.0.0.1:10248]");
        assertThat(config.serving().orElseAny()).isTrue();
        assertThat(config.runtime().endpoint()).isEmpty();
        assertThat(config.runtime().maxImages()).isEqualTo(50);
        assertThat(config.runtime().requestTimeout()).isEqualTo(Duration.ofMinutes(2));
        assertThat(config.runtime().probesNetwork()).isFalse();
        assertThat(config.gates().on())
                .containsExactlyInAnyOrder(
                        AgentFeature.GRACEFUL_NODE_SHUTDOWN,
                        AgentFeature.PARALLEL_PLEG,
                        AgentFeature.RUNTIME_SNAPSHOTS,
                        AgentFeature.RUNTIME_CULPRITS,
                        AgentFeature.EVENTED_PLEG,
                        AgentFeature.NODE_PROBLEMS);
        assertThat(config.problemRules()).isEmpty();
    }

    @Test
    void containersHaveTheRuntimesSeccompProfileIfTheFlagSaysSo() {
        assertThat(configured("").pods().security().seccompDefault()).isFalse();
        assertThat(configured("", "--seccomp-default").pods().security().seccompDefault())
                .isTrue();
        assertThat(configured("", "--seccomp-default=false").pods().security().seccompDefault())
                .isFalse();
    }

    /** Each of these fields has a flag. */
    @Test
    void fieldsOfTheFileHoldUnlessTheirFlagIsGiven() {
        String file = """
                registerNode: false
                registerWithTaints: [{key: team, effect: NoSchedule}]
                providerID: cloud://a
                nodeLeaseDurationSeconds: 20
                nodeStatusUpdateFrequency: 5s
                containerRuntimeEndpoint: unix:///run/a.sock
                healthzPort: 7001
                healthzBindAddress: 127.0.0.2
                port: 7002
                address: 127.0.0.3
                cgroupRoot: /one
                cgroupsPerQOS: false
                enforceNodeAllocatable: []
                allowedUnsafeSysctls: [kernel.sem]
                seccompDefault: true
                featureGates: {RuntimeCulprits: false}
                """;
        AgentConfigBuilder fileOnly = new AgentConfigBuilder("n1");
        ConfigFile.parse("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" + file, fileOnly);
        AgentConfig expected = fileOnly.rootDir(Path.of("/var/lib/nodekeeper"))
                .certDir(Path.of("/var/lib/nodekeeper/pki"))
                .build();

        assertThat(configured(file)).usingRecursiveComparison().isEqualTo(expected);
        assertThat(configured(file).registerNode()).isFalse();
    }

    @Test
    void flagHasPrecedenceOverTheFile() {
        assertThat(configured(
                        "registerNode: false\nproviderID: cloud://a", "--register-node", "--provider-id=cloud://b"))
                .satisfies(config -> {
                    assertThat(config.registerNode()).isTrue();
                    assertThat(config.providerId()).isEqualTo("cloud://b");
                });
    }

    @Test
    void certificatesAreInTheRootDirectoryUnlessTheFlagNamesAnother() {
        assertThat(configured("", "--root-dir=" + directory.resolve("new")).certDir())
                .isEqualTo(directory.resolve("new/pki"));
        assertThat(configured("", "--cert-dir=" + directory).certDir()).isEqualTo(directory);
    }

    @Test
    void theBootstrapFileIsNeededOnlyWhileThereIsNoKubeconfig() {
        String bootstrap = "--bootstrap-kubeconfig=" + directory.resolve("bootstrap");

        assertThat(runner.run(new String[] {"agent", bootstrap})).isEqualTo(2);
        assertThat(err.toString()).contains("--bootstrap-kubeconfig needs --kubeconfig, the file to write");
        assertThat(runner.run(new String[] {"agent", bootstrap, "--kubeconfig=" + directory.resolve("new")}))
                .isEqualTo(2);
        assertThat(err.toString()).contains("--bootstrap-kubeconfig is " + directory.resolve("bootstrap"));
        assertThat(launched).isEmpty();

        assertThat(runner.run(new String[] {"agent", bootstrap, "--kubeconfig=" + kubeconfig}))
                .isZero();
        assertThat(launched).hasSize(1);
    }

    @Test
    void ruleFilesReachTheConfiguration() throws Exception {
        Path disk = Files.writeString(directory.resolve("disk.json"), """
                {"source": "disk", "rules": [{"type": "temporary", "reason": "DiskSlow", "pattern": "disk is slow"}]}""");
        Path empty = Files.writeString(directory.resolve("empty.json"), "{}");

        AgentConfig config = configured("", "--problem-rules=" + disk + "," + empty);

        assertThat(config.problemRules()).extracting(RuleFile::source).containsExactly("disk", "kernel-monitor");
    }

    @Test
    void everyFaultOfARuleFileIsToldInOneMessage() throws Exception {
        Path rules = Files.writeString(directory.resolve("bad.json"), """
                {"plugin": "journald", "rules": [{"type": "temporary", "reason": "R", "pattern": "("}]}""");
        Path missing = directory.resolve("missing.json");

        assertThat(run("--problem-rules=" + rules, "--problem-rules=" + missing))
                .isEqualTo(2);

        assertThat(launched).isEmpty();
        assertThat(err.toString())
                .startsWith("error: 3 errors:\n")
                .contains("--problem-rules: " + rules + ": plugin is \"journald\"; expected kmsg, the kernel's log\n")
                .contains("--problem-rules: " + rules + ": rules[0]: pattern is \"(\"; expected a regular expression in"
                        + " RE2 syntax: missing closing )\n")
                .contains("--problem-rules: " + missing + ": cannot be read: ");
    }

    @Test
    void flagsGoBeforeTheFile() {
        AgentConfig config = configured(
                """
                containerRuntimeEndpoint: unix:///run/a.sock
                healthzPort: 7000
                featureGates: {ParallelPLEG: false, EventedPLEG: false}
                """,
                "--container-runtime-endpoint=unix:///run/b.sock",
                "--healthz-port=7001",
                "--healthz-bind-address=::1",
                "--network-probe-interval=1m",
                "--feature-gates=EventedPLEG=true,RuntimeCulprits=false");

        assertThat(config.runtime().socket(Optional.of(Path.of("/usual")))).contains(Path.of("/run/b.sock"));
        assertThat(config.serving().address()).hasToString("Optional[/[0:0:0:0:0:0:0:1]:7001]");
        assertThat(config.serving().orElseAny()).isFalse();
        assertThat(config.runtime().networkProbeInterval()).isEqualTo(Duration.ofMinutes(1));
        assertThat(config.gates().on())
                .containsExactlyInAnyOrder(
                        AgentFeature.RUNTIME_SNAPSHOTS,
                        AgentFeature.EVENTED_PLEG,
                        AgentFeature.NODE_PROBLEMS,
                        AgentFeature.GRACEFUL_NODE_SHUTDOWN);
    }

    @Test
    void everyFlagReachesTheConfiguration() {
        AgentConfig config = configured(
                "",
                "--node-lease-duration-seconds=20",
                "--node-status-update-frequency=5s",
                "--container-runtime-endpoint=unix:///run/a.sock",
                "--network-probe-interval=30s",
                "--healthz-port=7001",
                "--healthz-bind-address=127.0.0.2",
                "--feature-gates=RuntimeCulprits=false",
                "--node-ip=10.0.0.1,fd00::1",
                "--node-labels=rack=r1",
                "--register-with-taints=team=a:NoSchedule,slow:NoExecute",
                "--register-node=false",
                "--cloud-provider=external",
                "--provider-id=cloud://zone/machine",
                "--cgroup-root=/one",
                "--cgroups-per-qos=false",
                "--allowed-unsafe-sysctls=net.core.*,kernel.sem",
                "--root-dir=" + directory.resolve("missing"));

        assertThat(config.externalCloudProvider()).isTrue();
        assertThat(config.providerId()).isEqualTo("cloud://zone/machine");
        assertThat(config.nodeLeaseDurationSeconds()).isEqualTo(20);
        assertThat(config.nodeStatusUpdateFrequency()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config.runtime().endpoint()).contains("unix:///run/a.sock");
        assertThat(config.runtime().networkProbeInterval()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.serving().address()).hasToString("Optional[/127.0.0.2:7001]");
        assertThat(config.gates().has(AgentFeature.RUNTIME_CULPRITS)).isFalse();
        assertThat(config.nodeIps()).hasSize(2).last().hasToString("/fd00:0:0:0:0:0:0:1");
        assertThat(config.nodeLabels()).containsOnly(Map.entry("rack", "r1"));
        assertThat(config.registerWithTaints())
                .extracting(taint -> taint.key() + "=" + taint.value() + ":" + taint.effect())
                .containsExactly("team=a:NoSchedule", "slow=:NoExecute");
        assertThat(config.registerNode()).isFalse();
        assertThat(config.rootDir()).as("not its parent, which exists").isEqualTo(directory.resolve("missing"));
        assertThat(config.pods().cgroups().root()).isEqualTo("/one");
        assertThat(config.pods().cgroups().perQos()).isFalse();
        assertThat(config.pods().cgroups().enforces()).isFalse();
        assertThat(config.pods().security().unsafeSysctls())
                .extracting(SysctlPattern::text)
                .containsExactly("net.core.*", "kernel.sem");
    }

    @Test
    void fileCountsWhereNoFlagSaysOtherwise() {
        AgentConfig config = configured("""
            containerRuntimeEndpoint: unix:///run/a.sock
            healthzPort: 7000
            healthzBindAddress: 0.0.0.0
            """);

        assertThat(config.runtime().socket(Optional.empty())).contains(Path.of("/run/a.sock"));
        assertThat(config.serving().address()).hasToString("Optional[/0.0.0.0:7000]");
    }

    @Test
    void portZeroMeansNoPagesAndNoneNoRuntime() {
        AgentConfig config = configured("", "--healthz-port=0", "--container-runtime-endpoint=none");

        assertThat(config.serving().address()).isEmpty();
        assertThat(config.runtime().socket(Optional.of(Path.of("/usual")))).isEmpty();
    }

    @Test
    void everyFaultIsToldInOneMessage() {
        assertThat(run(
                        "--container-runtime-endpoint=/run/containerd/containerd.sock",
                        "--healthz-port=70000",
                        "--healthz-bind-address=here",
                        "--network-probe-interval=9.999s",
                        "--cgroup-root=here/../there",
                        "--allowed-unsafe-sysctls=vm.*",
                        "--feature-gates=Magic=true,ParallelPLEG=maybe"))
                .isEqualTo(2);

        assertThat(launched).isEmpty();
        assertThat(err.toString())
                .startsWith("error: 8 errors:\n")
                .contains(
                        "--container-runtime-endpoint is \"/run/containerd/containerd.sock\"; expected unix:///PATH or"
                                + " none\n")
                .contains("--healthz-port is 70000; expected 0 to 65535\n")
                .contains("--healthz-bind-address is \"here\"; expected an IP address\n")
                .contains("--cgroup-root is \"here/../there\"; expected the absolute path of a cgroup, such as /name\n")
                .contains("--allowed-unsafe-sysctls: the sysctls \"vm.*\" are not known to be namespaced\n")
                .contains("--network-probe-interval is 9.999s; expected 0s for none, or 10s or more\n")
                .contains(
                        "--feature-gates: \"Magic\" is no feature gate; expected one of ParallelPLEG, RuntimeSnapshots,"
                                + " RuntimeCulprits, EventedPLEG, NodeProblems, PodLifecycle,"
                                + " GracefulNodeShutdown, KubeletRegistrationGetOnExistsOnly\n")
                .contains(
                        "--feature-gates: \"ParallelPLEG=maybe\"; expected ParallelPLEG=true or ParallelPLEG=false\n");
    }

    @Test
    void upHasTheGatesOfControllerAndAgentInOneFlag() {
        assertThat(runner.run("up", "--feature-gates=ObserverGuard=false,ParallelPLEG=false"))
                .isZero();

        assertThat(controllers
                        .getFirst()
                        .config()
                        .gates()
                        .has(io.nodekeeper.controller.config.ControllerFeature.OBSERVER_GUARD))
                .isFalse();
        assertThat(controllers.getFirst().config().gates().on()).hasSize(14);
        AgentConfigBuilder builder = new AgentConfigBuilder("n1");
        launched.getFirst().configure(builder);
        assertThat(builder.build().gates().has(AgentFeature.PARALLEL_PLEG)).isFalse();

        assertThat(runner.run("up", "--feature-gates=Magic=true")).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("error: --feature-gates: \"Magic\" is no feature gate; expected one of"
                        + " AuthorizeNodeWithSelectors, ObserverGuard,");
    }

    @Test
    void helpTellsWhatEachGateIsGoodFor() {
        assertThat(runner.run("agent", "--help")).isZero();

        String help = out.toString().replaceAll("\\s+", " ");
        for (AgentFeature gate : AgentFeature.values()) {
            assertThat(help).contains(gate.text() + (gate.byDefault() ? " (on: " : " (off: ") + gate.purpose() + ")");
        }
    }

    private AgentConfig configured(String file, String... flags) {
        assertThat(run(flags)).isZero();
        AgentConfigBuilder builder = new AgentConfigBuilder("n1");
        ConfigFile.parse("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" + file, builder);
        launched.getFirst().configure(builder);
        return builder.build();
    }

    private int run(String... flags) {
        List<String> all = new ArrayList<>(List.of("agent", "--kubeconfig=" + kubeconfig));
        all.addAll(Arrays.asList(flags));
        return runner.run(all.toArray(String[]::new));
    }
}
