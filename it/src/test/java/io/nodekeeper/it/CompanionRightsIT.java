package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** The companion with exactly the rights of its manifests, applied by the real kubectl, and with a node's own credentials. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Order(3)
@Tag("long")
class CompanionRightsIT {
    private static final String NODE = "beside";
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final Duration SILENCE = Duration.ofSeconds(60);

    @TempDir
    static Path directory;

    private CompanionCluster cluster;
    private Path kubeconfig;
    private ConditionLog conditions;

    @BeforeAll
    void start() throws Exception {
        cluster = new CompanionCluster(directory);
        kubeconfig = cluster.install("companion-kubelet-metrics");
        conditions = new ConditionLog(cluster.admin());
    }

    @AfterAll
    void stop() {
        conditions.close();
        cluster.close();
    }

    private Running companion(String name, Path credentials, StandInKubelet kubelet, String... flags) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "agent",
                "--mode=companion",
                "--kubeconfig=" + credentials,
                "--node-name=" + name,
                "--healthz-port=0",
                "--container-runtime-endpoint=none",
                "--kubelet-healthz-port=" + kubelet.healthPort(),
                "--kubelet-port=" + kubelet.metricsPort(),
                "--kubelet-certificate-authority=" + kubelet.certificate()));
        command.addAll(List.of(flags));
        return Running.startSmall(directory, "companion", command);
    }

    @Test
    @Order(1)
    void kubectlRendersAndAppliesTheManifests() throws Exception {
        String rendered = cluster.kubectl()
                .ok("kustomize", CompanionCluster.DEPLOY.resolve("companion").toString());

        assertThat(rendered)
                .contains("kind: DaemonSet", "hostPID: true", "readOnlyRootFilesystem: true", "- --mode=companion")
                .doesNotContain("nodes/metrics", "nodes/proxy");
        // Every mount of the host is read-only.
        assertThat(rendered.split("- mountPath: ", -1)).hasSize(7);
        assertThat(rendered.split("readOnly: true", -1)).hasSize(6);
        assertThat(cluster.kubectl().ok("-n", "nodekeeper", "get", "daemonset", "nodekeeper-companion", "-o", "name"))
                .isEqualTo("daemonset.apps/nodekeeper-companion\n");
        assertThat(cluster.kubectl().ok("get", "priorityclass", "nodekeeper-companion", "-o", "jsonpath={.value}"))
                .isEqualTo("1000000000");
    }

    @Test
    @Order(1)
    void systemdAcceptsTheUnitAndItsLimits() throws Exception {
        String unit = Files.readString(CompanionCluster.DEPLOY.resolve("systemd/nodekeeper-companion.service"));
        Path copy = Files.writeString(
                directory.resolve("nodekeeper-companion.service"), unit.replace("/usr/bin/nodekeeper", "/bin/true"));

        assertThat(Command.ok("systemd-analyze", "verify", copy.toString())).isEmpty();
        // systemd's exposure level: 10 is worst, and a unit without limits has 9.6.
        String security = Command.ok("systemd-analyze", "security", "--offline=true", copy.toString());
        Matcher level = Pattern.compile("exposure level for \\S+: ([0-9.]+)").matcher(security);
        assertThat(level.find()).isTrue();
        assertThat(Double.parseDouble(level.group(1))).isLessThan(6.0);
        assertThat(unit)
                .contains("--mode=companion")
                // SockDiag asks the kernel over AF_NETLINK whom a client of a unix socket waits for.
                .contains("\nRestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n");
    }

    @Test
    @Order(2)
    void itUsesEveryRightOfItsRoleAndNoOther() throws Exception {
        try (StandInKubelet first =
                        new StandInKubelet(Files.createDirectory(directory.resolve("k1")), NODE, cluster.admin());
                Running companion = companion(NODE, kubeconfig, first)) {
            // The metrics say that relists stall, twice: the event at the end is the same both times.
            for (int i = 0; i < 2; i++) {
                Eventually.within(
                        SOON,
                        () -> conditions.is(NODE, "KubeletDegraded", Condition.FALSE)
                                && conditions.now(NODE, "KubeletDegraded").isPresent());
                first.stalledSince(Instant.now().minusSeconds(106));
                Eventually.within(SOON, () -> conditions.is(NODE, "KubeletDegraded", Condition.TRUE));
                assertThat(conditions.now(NODE, "KubeletDegraded").orElseThrow().message())
                        .startsWith("the kubelet's PLEG will call this node NotReady at ");
                first.relists();
            }
            Eventually.within(SOON, () -> conditions.is(NODE, "KubeletDegraded", Condition.FALSE));
            first.stopHealth();
            Eventually.within(
                    SILENCE,
                    () -> conditions
                            .now(NODE, "KubeletDegraded")
                            .filter(condition -> condition.reason().equals("KubeletNotAnswering"))
                            .isPresent());
            TreeSet<String> rights = cluster.rights("nodekeeper-companion");
            Eventually.within(SOON, () -> new TreeSet<>(cluster.requests(CompanionCluster.USER)).equals(rights));

            assertThat(companion.terminate()).isEqualTo(143);

            assertThat(first.node().condition("KubeletDegraded").orElseThrow().reason())
                    .isEqualTo("CompanionStopped");
            assertThat(first.node().condition("KubeletDegraded").orElseThrow().status())
                    .isEqualTo("Unknown");
            assertThat(first.node().isReady()).isTrue();
            assertThat(first.failures()).isEmpty();
            assertThat(new TreeSet<>(cluster.requests(CompanionCluster.USER)))
                    .isEqualTo(rights)
                    .containsExactly(
                            "create events", "list nodes", "patch events", "patch nodes/status", "watch nodes");
            assertThat(cluster.forbidden(CompanionCluster.USER)).isEmpty();
            assertThat(companion.log()).doesNotContain("\tat io.nodekeeper");
        }
        assertThat(cluster.rights("nodekeeper-companion-kubelet-metrics")).containsExactly("get nodes/metrics");
    }

    @Test
    @Order(3)
    void nothingElseIsAllowed() throws Exception {
        for (String[] right : new String[][] {
            {"patch", "nodes"},
            {"update", "nodes/status"},
            {"create", "nodes"},
            {"get", "nodes/proxy"},
            {"get", "secrets"},
            {"delete", "pods"},
            {"patch", "pods/status"},
            {"list", "pods"},
            {"update", "leases.coordination.k8s.io"}
        }) {
            Kubectl.Result result =
                    cluster.kubectl().run("auth", "can-i", right[0], right[1], "--as=" + CompanionCluster.USER);

            assertThat(result.out().strip()).as(String.join(" ", right)).isEqualTo("no");
        }
    }

    @Test
    @Order(4)
    void theCredentialsOfTheNodeSufficeForItsOwnNodeAndForNoOther() throws Exception {
        String user = "system:node:own";
        try (Running certs = Running.start(
                directory,
                "certs",
                "certs",
                "--data-dir",
                cluster.data().toString(),
                "--node",
                "own",
                "--server",
                cluster.address())) {
            certs.awaitEnd();
        }
        Path credentials = cluster.data().resolve("agent-own.kubeconfig");
        try (StandInKubelet own =
                        new StandInKubelet(Files.createDirectory(directory.resolve("k2")), "own", cluster.admin());
                StandInKubelet other =
                        new StandInKubelet(Files.createDirectory(directory.resolve("k3")), "other", cluster.admin())) {
            try (Running companion = companion("own", credentials, own)) {
                Eventually.within(
                        SOON, () -> conditions.now("own", "KubeletDegraded").isPresent());
                assertThat(companion.terminate()).isEqualTo(143);
            }
            assertThat(cluster.forbidden(user)).isEmpty();
            // The kernel's log is the machine's: it may have something to tell from another test, such as an OOM kill.
            assertThat(new TreeSet<>(cluster.requests(user)))
                    .contains("list nodes", "patch nodes/status", "watch nodes")
                    .isSubsetOf("create events", "list nodes", "patch nodes/status", "watch nodes");

            try (Running companion = companion("other", credentials, other)) {
                Eventually.within(SOON, () -> !cluster.forbidden(user).isEmpty());
                companion.terminate();
            }
            assertThat(other.node().conditions())
                    .extracting(Condition::type)
                    .containsExactlyInAnyOrderElementsOf(StandInKubelet.CONDITIONS);
        }
    }
}
