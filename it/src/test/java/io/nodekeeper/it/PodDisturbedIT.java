package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Pods of an agent on a real containerd while a part of the runtime hangs for one of them, and while they are moved away: by a
 * drain, by a taint, and because their node fell silent.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class PodDisturbedIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    /** Longer than six renewals of the lease, which a busy machine delays. */
    private static final Duration GRACE = Duration.ofSeconds(12);

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private ConditionLog conditions;
    private PodLog pods;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        conditions = cluster.conditions();
        pods = cluster.pods();
        cluster.opened(Running.startSmall(
                directory,
                "controller",
                List.of(
                        "controller",
                        "--kubeconfig",
                        cluster.kubeconfig().toString(),
                        "--leader-elect=false",
                        "--node-monitor-grace-period=" + GRACE.toSeconds() + "s")));
        // Nodes that live on: the controller evicts nothing when all nodes fall silent.
        cluster.opened(
                Running.hollowSmall(directory, cluster.kubeconfig(), "other-", 2, "--node-lease-duration-seconds=8"));
        node = cluster.addNode();
        cluster.startAgent("nodeLeaseDurationSeconds: 8\n");
    }

    @Test
    @Order(1)
    void aPluginAndARuncThatHangForOnePodDelayNoOther() throws Exception {
        Path closed = Files.createFile(directory.resolve("closed"));
        String wait = "while [ -e " + closed + " ]; do sleep 0.2; done";
        node.containerd().cni().hook("ADD", "K8S_POD_NAME=stuck-plugin", wait);
        // The bundle says which container it is; the sandbox itself starts.
        node.containerd()
                .runc()
                .hook(
                        "create",
                        "--bundle",
                        "for d; do f=$d/config.json; [ -f \"$f\" ] && grep -q '\"io.kubernetes.cri.container-name\"'"
                                + " \"$f\" && grep -q '\"stuck-runc\"' \"$f\" && " + wait + "; done; true");
        try {
            kubectl.apply(pod("stuck-plugin", ""), pod("stuck-runc", ""));
            Eventually.within(SOON, () -> pods.pod("stuck-runc").isPresent());
            kubectl.apply(pod("beside", """
                    readinessProbe: {exec: {command: [cat, /etc/hosts]}, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 10}
                """));

            cluster.awaitReady(Duration.ofSeconds(20), "beside");
            kubectl.ok("delete", "pod", "beside", "--wait=false");
            Eventually.within(Duration.ofSeconds(20), () -> pods.pod("beside").isEmpty());
            assertThat(pods.isReady("stuck-plugin")).isFalse();
            assertThat(pods.isReady("stuck-runc")).isFalse();
        } finally {
            Files.delete(closed);
        }
        Eventually.within(SOON, () -> pods.isReady("stuck-plugin") && pods.isReady("stuck-runc"));
        node.containerd().cni().unhook("ADD");
        node.containerd().runc().unhook("create");
        kubectl.ok("delete", "pod", "stuck-plugin", "stuck-runc", "--timeout=60s");
        assertThat(running()).isEmpty();
    }

    @Test
    @Order(2)
    void aDrainWaitsForTheBudgetAndThePodsReallyEnd() throws Exception {
        kubectl.apply(pod("guarded", "", "labels: {app: guarded}"), """
                apiVersion: policy/v1
                kind: PodDisruptionBudget
                metadata: {name: guarded}
                spec: {minAvailable: 1, selector: {matchLabels: {app: guarded}}}
                """);
        cluster.awaitReady(SOON, "guarded");
        allowed(0);
        Path out = directory.resolve("drain.out");
        Path err = directory.resolve("drain.err");
        Process drain = kubectl.start(out, err, "drain", NODE, "--force", "--timeout=60s");
        try {
            Eventually.within(SOON, () -> Files.readString(err).contains("violate the pod's disruption budget"));
            assertThat(pods.isReady("guarded")).isTrue();
            assertThat(drain.isAlive()).isTrue();

            // What a disruption controller writes once another pod is there.
            allowed(1);
            assertThat(drain.waitFor(60, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
            assertThat(drain.exitValue()).as(Files.readString(err)).isZero();
        } finally {
            drain.destroyForcibly();
        }
        assertThat(pods.pod("guarded")).isEmpty();
        assertThat(running()).isEmpty();
        kubectl.ok("uncordon", NODE);
    }

    @Test
    @Order(3)
    void aTaintEndsThePodsThatDoNotTolerateIt() throws Exception {
        kubectl.apply(pod("leaves", ""), pod("stays", tolerating("")));
        Eventually.within(SOON, () -> pods.isReady("leaves") && pods.isReady("stays"));

        kubectl.ok("taint", "node", NODE, "repair=now:NoExecute");

        Eventually.within(SOON, () -> pods.pod("leaves").isEmpty());
        assertThat(running()).containsExactly("stays");
        assertThat(pods.isReady("stays")).isTrue();
        kubectl.ok("taint", "node", NODE, "repair-");
    }

    @Test
    @Order(4)
    void podsOfANodeThatFellSilentEndOrAreReadyAgainOnceItReturns() throws Exception {
        kubectl.apply(pod("leaves", tolerating("tolerationSeconds: 0, ")));
        Eventually.within(SOON, () -> pods.isReady("leaves") && pods.isReady("stays"));
        String kept = pods.container("stays").text("containerID");

        node.agent().signal("STOP");
        try {
            Eventually.within(
                    SOON,
                    () -> pods.pod("leaves")
                            .filter(pod -> pod.object("metadata").has("deletionTimestamp"))
                            .isPresent());
            // The controller says so for a node of which nothing is known.
            Eventually.within(SOON, () -> !pods.isReady("stays"));
            assertThat(running()).containsExactly("leaves", "stays");
        } finally {
            node.agent().signal("CONT");
        }

        Eventually.within(SOON, () -> pods.pod("leaves").isEmpty());
        Eventually.within(SOON, () -> pods.isReady("stays") && conditions.is(NODE, Condition.READY, Condition.TRUE));
        assertThat(running()).containsExactly("stays");
        assertThat(pods.container("stays").text("containerID")).isEqualTo(kept);
        kubectl.ok("delete", "pod", "stays", "--timeout=60s");
        assertThat(running()).isEmpty();
    }

    private void allowed(int disruptions) throws Exception {
        kubectl.ok(
                "patch", "poddisruptionbudget", "guarded", "--subresource=status", "--type=merge", "-p", """
                {"status": {"observedGeneration": 1, "disruptionsAllowed": %d, "currentHealthy": %d, "desiredHealthy": 1, "expectedPods": 1}}
                """.formatted(
                                disruptions, 1 + disruptions));
    }

    private static String tolerating(String more) {
        return "  tolerations: [{operator: Exists, " + more + "effect: NoExecute}]\n";
    }

    private static String pod(String name, String more) {
        return pod(name, more, "");
    }

    private static String pod(String name, String more, String metadata) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s, %s}
                spec:
                  nodeName: %s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 2
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "trap 'exit 0' TERM; while true; do sleep 0.2; done"]
                """.formatted(name, metadata, NODE, BusyboxImages.BUSYBOX) + more;
    }

    /** The pods that have containers. */
    private Set<String> running() {
        Set<String> names = new TreeSet<>();
        node.pods().containers().forEach(container -> names.add(container.getLabelsOrThrow("io.kubernetes.pod.name")));
        return names;
    }
}
