package io.nodekeeper.cli.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.options.BindAddress;
import io.nodekeeper.cli.up.UpCommand;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.DetectorConfig;
import io.nodekeeper.controller.config.FlapDampingConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControllerFlagsTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final List<ControllerOptions> launched = new ArrayList<>();
    private final CommandRunner runner = new CommandRunner(
            List.of(
                    new ControllerCommand(command -> {
                        launched.add(command.controller);
                        return 0;
                    }),
                    new UpCommand(command -> {
                        launched.add(command.controller);
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
    void defaultsAreKubernetes() {
        assertThat(run()).isZero();

        ControllerOptions options = launched.getFirst();
        assertThat(options.config().zones().nodeEvictionRate()).isEqualTo(0.1f);
        assertThat(options.config().zones().secondaryNodeEvictionRate()).isEqualTo(0.01f);
        assertThat(options.config().zones().largeClusterSizeThreshold()).isEqualTo(50);
        assertThat(options.config().zones().unhealthyZoneThreshold()).isEqualTo(0.55f);
        assertThat(options.config().gates().on()).containsExactlyInAnyOrder(ControllerFeature.values());
        assertThat(options.config().terminatedPodGcThreshold()).isEqualTo(12_500);
        assertThat(options.config().detector()).isEqualTo(DetectorConfig.DEFAULT);
        assertThat(options.config().flaps()).isEqualTo(FlapDampingConfig.DEFAULT);
        assertThat(options.election(true))
                .contains(new LeaderElectionConfig(
                        Duration.ofSeconds(15),
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(2),
                        "kube-system",
                        "kube-controller-manager",
                        true));
        assertThat(options.mode).isEqualTo(ControllerOptions.Mode.enforce);
        assertThat(options.history.bytes()).isEqualTo(64 << 20);
        assertThat(options.history.dir).isEmpty();
    }

    @Test
    void flagsReachTheController() {
        assertThat(run(
                        "--node-eviction-rate=1",
                        "--secondary-node-eviction-rate=0",
                        "--large-cluster-size-threshold=10",
                        "--unhealthy-zone-threshold=1",
                        "--terminated-pod-gc-threshold=7",
                        "--feature-gates=ObserverGuard=false,OrphanLeases=true",
                        "--mode=observe",
                        "--controller-bind-address=off"))
                .isZero();

        ControllerOptions options = launched.getFirst();
        assertThat(options.config().zones().nodeEvictionRate()).isEqualTo(1f);
        assertThat(options.config().gates().has(ControllerFeature.OBSERVER_GUARD))
                .isFalse();
        assertThat(options.config().gates().has(ControllerFeature.ORPHAN_LEASES))
                .isTrue();
        assertThat(options.config().terminatedPodGcThreshold()).isEqualTo(7);
        assertThat(options.mode).isEqualTo(ControllerOptions.Mode.observe);
        assertThat(options.history.address().socket()).isEmpty();
    }

    @Test
    void detectorAndFlapDampingFollowTheirFlags() {
        assertThat(run(
                        "--detector=adaptive",
                        "--detector-min=20s",
                        "--detector-max=2m",
                        "--flap-penalty=500",
                        "--flap-half-life=5m",
                        "--flap-suppress=1500",
                        "--flap-reuse=400",
                        "--flap-max-suppress=1h"))
                .isZero();

        ControllerOptions options = launched.getFirst();
        assertThat(options.config().detector())
                .isEqualTo(new DetectorConfig(
                        DetectorConfig.Kind.ADAPTIVE, Duration.ofSeconds(20), Duration.ofSeconds(120)));
        assertThat(options.config().flaps())
                .isEqualTo(new FlapDampingConfig(500, Duration.ofMinutes(5), 1500, 400, Duration.ofHours(1)));
    }

    @Test
    void boundsOfDetectorAndDampingThatMakeNoSenseAreToldTogether() {
        assertThat(run("--detector=adaptive", "--detector-min=2m", "--flap-reuse=3000"))
                .isEqualTo(2);

        assertThat(err.toString())
                .contains("--detector-max: must be --detector-min (2m0s) or more, got 1m40s")
                .contains("--flap-reuse: must be less than --flap-suppress (2200.0), got 3000.0");
    }

    @Test
    void whoElectsALeaderDependsOnTheCommandAndTheModeUnlessSaid() {
        assertThat(elects("controller")).isTrue();
        assertThat(elects("up")).isFalse();
        assertThat(elects("controller", "--mode=observe")).isFalse();
        assertThat(elects("controller", "--leader-elect=false")).isFalse();
        assertThat(elects("controller", "--leader-elect")).isTrue();
        assertThat(elects("up", "--leader-elect=true")).isTrue();
        assertThat(elects("controller", "--leader-elect=false", "--mode=observe"))
                .isFalse();
    }

    @Test
    void theLockCanBeAnother() {
        assertThat(run(
                        "--leader-elect-resource-name=nodekeeper",
                        "--leader-elect-resource-namespace=ops",
                        "--leader-elect-resource-lock=leases",
                        "--leader-elect-lease-duration=1m",
                        "--leader-elect-renew-deadline=40s",
                        "--leader-elect-retry-period=5s"))
                .isZero();

        assertThat(launched.getFirst().election(true))
                .contains(new LeaderElectionConfig(
                        Duration.ofSeconds(60),
                        Duration.ofSeconds(40),
                        Duration.ofSeconds(5),
                        "ops",
                        "nodekeeper",
                        true));
    }

    @Test
    @Tag("L77")
    void contradictoryTimesOfAnElectionAreToldInClientGosWords() {
        assertThat(run("--leader-elect-retry-period=8.4s")).isEqualTo(2);

        assertThat(err.toString())
                .startsWith("error: leader election: renewDeadline must be greater than retryPeriod*JitterFactor;"
                        + " --leader-elect-lease-duration is 15s, --leader-elect-renew-deadline 10s,"
                        + " --leader-elect-retry-period 8.4s\n");
    }

    @Test
    void everyFaultOfAnElectionIsTold() {
        assertThat(run(
                        "--leader-elect=true",
                        "--mode=observe",
                        "--leader-elect-lease-duration=1s",
                        "--leader-elect-renew-deadline=1s",
                        "--leader-elect-retry-period=0s",
                        "--leader-elect-resource-name=A_B",
                        "--leader-elect-resource-namespace=",
                        "--leader-elect-resource-lock=endpoints"))
                .isEqualTo(2);

        assertThat(err.toString())
                .startsWith("error: 6 errors:\n")
                .contains("leader election: leaseDuration must be greater than renewDeadline; ")
                .contains("leader election: retryPeriod must be greater than zero; ")
                .contains("--leader-elect-resource-name is \"A_B\"; expected lower case letters, digits, - and .")
                .contains("--leader-elect-resource-namespace is \"\"; expected lower case letters")
                .contains("--leader-elect-resource-lock is \"endpoints\"; expected leases")
                .contains("--leader-elect=true and --mode observe exclude each other; expected --leader-elect=false");
    }

    @Test
    void helpTellsWhoseLockItIs() {
        assertThat(runner.run("controller", "--help")).isZero();

        assertThat(out.toString().replaceAll("\\s+", " "))
                .contains("The default is the lock of kube-controller-manager, so that the two never manage nodes"
                        + " at the same time.");
    }

    @Test
    void everyFaultIsToldInOneMessage() {
        assertThat(run(
                        "--node-monitor-period=5s",
                        "--node-monitor-grace-period=3s",
                        "--node-eviction-rate=-1",
                        "--unhealthy-zone-threshold=0",
                        "--feature-gates=Magic=true",
                        "--history-size=0",
                        "--controller-bind-address=nowhere:1"))
                .isEqualTo(2);

        assertThat(launched).isEmpty();
        assertThat(err.toString())
                .startsWith("error: 6 errors:\n")
                .contains("--node-monitor-grace-period is 3s; expected at least --node-monitor-period, which is 5s")
                .contains("--node-eviction-rate is -1; expected 0 to 1000000")
                .contains("--unhealthy-zone-threshold is 0.0; expected more than 0, at most 1")
                .contains("--feature-gates: \"Magic\" is no feature gate; expected one of ObserverGuard,")
                .contains("--history-size is 0; expected 1 to 1000000")
                .contains("--controller-bind-address is \"nowhere:1\"; expected ADDRESS:PORT, PORT, 0 for any, or off");
    }

    @Test
    void shortGraceAloneShortensThePeriod() {
        assertThat(run("--node-monitor-grace-period=4s")).isZero();

        assertThat(launched.getFirst().config().nodeMonitorPeriod()).isEqualTo(Duration.ofSeconds(4));
        assertThat(launched.getFirst().config().warnings())
                .singleElement()
                .asString()
                .startsWith("--node-monitor-grace-period=4s is less than the 45s");
    }

    @Test
    void helpTellsWhatEachGateIsGoodFor() {
        assertThat(runner.run("controller", "--help")).isZero();

        String help = out.toString().replaceAll("\\s+", " ");
        for (ControllerFeature gate : ControllerFeature.values()) {
            assertThat(help).contains(gate.text() + " (" + gate.purpose() + ")");
        }
    }

    @Test
    void bindAddressHasFourForms() {
        assertThat(new BindAddress("off").socket()).isEmpty();
        assertThat(socket("0")).isEqualTo("127.0.0.1:0");
        assertThat(socket("9100")).isEqualTo("127.0.0.1:9100");
        assertThat(socket("0.0.0.0:9100")).isEqualTo("0.0.0.0:9100");
        assertThat(socket("[::1]:9100")).isEqualTo("0:0:0:0:0:0:0:1:9100");
        assertThat(Stream.of("", "x", "70000", "host:1", "1.2.3.4", ":1", "1.2.3.4:"))
                .noneMatch(text -> new BindAddress(text).isGood());
    }

    private static String socket(String text) {
        assertThat(new BindAddress(text).isGood()).isTrue();
        return new BindAddress(text)
                .socket()
                .map(address -> address.getAddress().getHostAddress() + ":" + address.getPort())
                .orElse("off");
    }

    private boolean elects(String command, String... flags) {
        launched.clear();
        List<String> all = new ArrayList<>(List.of(command));
        if (command.equals("controller")) {
            all.add("--kubeconfig=" + kubeconfig);
        }
        all.addAll(Arrays.asList(flags));
        assertThat(runner.run(all.toArray(String[]::new))).isZero();
        return launched.getFirst().election(command.equals("controller")).isPresent();
    }

    private int run(String... flags) {
        List<String> all = new ArrayList<>(List.of("controller", "--kubeconfig=" + kubeconfig));
        all.addAll(Arrays.asList(flags));
        return runner.run(all.toArray(String[]::new));
    }
}
