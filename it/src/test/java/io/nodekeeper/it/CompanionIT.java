package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.cri.CriRelay;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * A companion on a real containerd, beside a stand-in that writes the Node's status as a kubelet does. A short run; {@code
 * -Dcompanion.seconds=600} makes it ten minutes.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Order(3)
@Tag("long")
class CompanionIT {
    private static final int PODS = 5;
    /** Naming a pod takes ten seconds, and longer beside other tests. */
    private static final Duration SOON = Duration.ofSeconds(60);

    private static final long SECONDS = Long.getLong("companion.seconds", 20);
    private static final String NODE = "beside";

    @TempDir
    static Path directory;

    private CompanionCluster cluster;
    private ConditionLog conditions;
    private StandInKubelet kubelet;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        cluster = new CompanionCluster(directory);
        Path kubeconfig = cluster.install("companion");
        conditions = new ConditionLog(cluster.admin());
        kubelet = new StandInKubelet(directory, NODE, cluster.admin());
        node = new RealNode(Files.createDirectory(directory.resolve(NODE)), NODE, kubeconfig, false, PODS);
    }

    @AfterAll
    void stop() throws Exception {
        node.close();
        kubelet.close();
        conditions.close();
        cluster.close();
    }

    private void startCompanion() throws Exception {
        node.startAgent("--mode=companion", "--kubelet-healthz-port=" + kubelet.healthPort());
    }

    private String message(String type) {
        return conditions.now(NODE, type).map(Condition::message).orElse("");
    }

    private boolean says(String type, String status) {
        return conditions.now(NODE, type).isPresent() && conditions.is(NODE, type, status);
    }

    @Test
    @Order(1)
    void aHungContainerIsNamedAndNeitherWriterLosesACondition() throws Exception {
        long begin = System.nanoTime();
        startCompanion();
        Eventually.within(
                SOON, () -> says("RuntimeDegraded", Condition.FALSE) && says("KubeletDegraded", Condition.FALSE));

        // When the shim of a pod stops.
        long struck = System.nanoTime();
        RuntimeFault.SHIM_STOPPED.strike(node);

        // Then the companion names the pod.
        Eventually.within(SOON, () -> says("RuntimeDegraded", Condition.TRUE));
        double named = (System.nanoTime() - struck) / 1e9;
        assertThat(message("RuntimeDegraded")).contains(node.victim().name());

        // And both write side by side.
        List<String> own = List.of("RuntimeDegraded", "KubeletDegraded", "DuplicateNode", "ReadonlyFilesystem");
        long end = System.nanoTime() + Duration.ofSeconds(SECONDS).toNanos();
        while (System.nanoTime() < end) {
            Node now = kubelet.node();
            assertThat(now.conditions()).extracting(Condition::type).containsAll(StandInKubelet.CONDITIONS);
            assertThat(now.conditions()).extracting(Condition::type).containsAll(own);
            assertThat(now.isReady()).isTrue();
            assertThat(now.condition("RuntimeDegraded").orElseThrow().status()).isEqualTo(Condition.TRUE);
            Thread.sleep(500);
        }
        RuntimeFault.SHIM_STOPPED.heal(node);
        Eventually.within(SOON, () -> says("RuntimeDegraded", Condition.FALSE));

        long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds();
        long writes = cluster.requests(CompanionCluster.USER).stream()
                .filter("patch nodes/status"::equals)
                .count();
        System.out.printf(
                "companion: the culprit was named after %.1f s; in %d s %d writes of the companion, %d of the kubelet%n",
                named, seconds, writes, kubelet.writes());
        // The start writes up to five times, the fault and its end twice each, and each five minutes once; on a busy
        // machine conditions change a condition now and then. A companion that writes each second would have written
        // twice as often.
        assertThat(writes).isBetween(3L, 20 + seconds / 300);
        assertThat(kubelet.writes()).isGreaterThan((int) (SECONDS / 6));
        assertThat(kubelet.failures()).isEmpty();
        assertThat(cluster.forbidden(CompanionCluster.USER)).isEmpty();
        assertThat(conditions.since(begin, NODE, Condition.READY)).allMatch(entry -> entry.says(Condition.TRUE));
        assertThat(conditions.since(begin, NODE, "DuplicateNode")).allMatch(entry -> entry.says(Condition.FALSE));
    }

    @Test
    @Order(2)
    void atItsEndNoConditionOfItsOwnStaysTrueOrFalse() throws Exception {
        assertThat(node.agent().terminate()).isEqualTo(143);

        Node after = kubelet.node();
        assertThat(after.conditions().stream()
                        .filter(condition -> !StandInKubelet.CONDITIONS.contains(condition.type())))
                .hasSizeGreaterThan(5)
                .allMatch(condition -> condition.status().equals(Condition.UNKNOWN)
                        && condition.reason().equals("CompanionStopped"));
        assertThat(after.isReady()).isTrue();
    }

    @Test
    @Order(3)
    void itSaysWhenTheKubeletWillGiveUpBecauseOfWhichPod() throws Exception {
        // Given a companion that gets no answer about one container.
        node.relayed();
        node.relay().fault("*:" + node.victim().container(), new CriRelay.Fault.Hang());

        startCompanion();

        Eventually.within(SOON, () -> says("KubeletDegraded", Condition.TRUE));
        assertThat(message("KubeletDegraded"))
                .startsWith("the kubelet's PLEG will call this node NotReady at ")
                .contains("because of pod ", node.victim().name());
        Eventually.within(
                SOON,
                () -> cluster.kubectl()
                        .ok(
                                "get",
                                "events",
                                "-A",
                                "-o",
                                "jsonpath={range .items[*]}{.source.component}: {.message}{\"\\n\"}{end}")
                        .lines()
                        .anyMatch(line -> line.startsWith(
                                        "nodekeeper-companion: the kubelet's PLEG will call this node NotReady in ")
                                && line.contains(" because of pod ")));

        node.relay().heal("*:" + node.victim().container());
        Eventually.within(Duration.ofMinutes(3), () -> says("KubeletDegraded", Condition.FALSE));
    }

    @Test
    @Order(4)
    void aNodeThatIsDeletedAndCreatedAgainGetsTheConditionsAgain() throws Exception {
        cluster.kubectl().ok("delete", "node", NODE);
        long deleted = System.nanoTime();
        cluster.kubectl()
                .okWith(
                        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" + NODE + "\"}}",
                        "create",
                        "-f");

        Eventually.within(
                SOON, () -> !conditions.since(deleted, NODE, "RuntimeDegraded").isEmpty());
        assertThat(kubelet.node().condition("RuntimeDegraded")).isPresent();
    }
}
