package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.nodekeeper.api.Condition;
import io.nodekeeper.controller.history.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a node reports about Ready is in the history, however short it was, and however often it changes. */
class ReadyChangesTest {
    private final TestCluster cluster = new TestCluster();

    private static void begin(TestCluster cluster) {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();
        cluster.advanceTo("10S");
    }

    private static void reports(TestCluster cluster, String status, String reason, String message) {
        Instant now = cluster.time.wallTime();
        cluster.post("n1", Condition.of("Ready", status, reason, message, now, now));
        cluster.advance(Duration.ZERO);
    }

    private void falls() {
        reports(cluster, "False", "KubeletNotReady", "container runtime is down");
    }

    private void recovers() {
        reports(cluster, "True", "KubeletReady", "kubelet is posting ready status");
    }

    /** That many changes, one per millisecond; the first is a fall. */
    private void changes(int times) {
        for (int i = 0; i < times; i++) {
            if (i % 2 == 0) {
                falls();
            } else {
                recovers();
            }
            cluster.advance(Duration.ofMillis(1));
        }
    }

    private List<Decision> changes() {
        return cluster.decisions.stream()
                .filter(decision -> decision.kind().equals("ReadyChanged"))
                .toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"DEADLINES", "GUARDED_PASS"})
    void fallOf20MillisecondsIsStoredWithItsReason(Mode mode) {
        TestCluster cluster = mode.cluster();
        begin(cluster);

        reports(cluster, "False", "KubeletNotReady", "container runtime is down");
        cluster.advance(Duration.ofMillis(20));
        reports(cluster, "True", "KubeletReady", "kubelet is posting ready status");

        assertThat(cluster.decisions("ReadyChanged"))
                .containsExactly(
                        "2015-01-01T12:00:10Z n1: Ready changed from True to False: KubeletNotReady: container runtime is"
                                + " down",
                        "2015-01-01T12:00:10.020Z n1: Ready changed from False to True: KubeletReady: kubelet is posting"
                                + " ready status");
        assertThat(cluster.decisions.stream()
                        .filter(decision -> decision.kind().equals("ReadyChanged"))
                        .map(decision -> decision.uid() + " " + decision.details())
                        .findFirst())
                .contains("n1-uid {\"was\":\"True\",\"ready\":\"False\",\"reason\":\"KubeletNotReady\","
                        + "\"message\":\"container runtime is down\",\"changedAt\":\"2015-01-01T12:00:10Z\"}");
    }

    @Test
    void reportsOfTheSameStatusAreNoChanges() {
        begin(cluster);
        recovers();
        cluster.advanceTo("20S");
        recovers();
        cluster.change("n1", node -> TestCluster.cordon(node, true));
        cluster.advanceTo("21S");

        assertThat(changes()).isEmpty();
    }

    @Test
    void nodeThatJoinsReportsItsFirstStatus() {
        cluster.start();
        cluster.addNode("n1", B);
        cluster.advanceTo("1S");

        falls();

        assertThat(cluster.decisions("ReadyChanged"))
                .containsExactly("2015-01-01T12:00:01Z n1: Ready is False and had no status before: KubeletNotReady:"
                        + " container runtime is down");
    }

    @Test
    void verdictIsNoReportAndTheReturnFromItIsOne() {
        begin(cluster);
        cluster.advanceTo("51S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(changes()).isEmpty();

        cluster.advanceTo("60S");
        recovers();

        assertThat(cluster.decisions("ReadyChanged"))
                .containsExactly("2015-01-01T12:01:00Z n1: Ready changed from Unknown to True: KubeletReady: kubelet is"
                        + " posting ready status");
    }

    @Test
    void verdictOfAnotherControllerAfterAnUnseenHeartbeatIsNoReport() {
        begin(cluster);
        cluster.loseHistory();
        cluster.post(
                "n1",
                Condition.of(
                        "Ready",
                        "Unknown",
                        "NodeStatusUnknown",
                        "Kubelet stopped posting node status.",
                        B.plusSeconds(9),
                        B.plusSeconds(10)));
        cluster.advanceTo("20S");

        assertThat(cluster.facts("n1").text("ready")).isEqualTo("Unknown");
        assertThat(changes()).isEmpty();
    }

    @Test
    void unknownThatTheNodeItselfReportsIsAChange() {
        begin(cluster);

        reports(cluster, "Unknown", "ProbeFailed", "the runtime did not answer");

        assertThat(cluster.decisions("ReadyChanged"))
                .containsExactly("2015-01-01T12:00:10Z n1: Ready changed from True to Unknown: ProbeFailed: the runtime"
                        + " did not answer");
    }

    @Test
    void changeThatOnlyAListShowsIsOneChangeAndTheFirstSightOfASuccessorIsNone() {
        begin(cluster);
        cluster.loseHistory();
        falls();
        cluster.advanceTo("20S");
        assertThat(changes())
                .singleElement()
                .satisfies(decision -> assertThat(decision.text())
                        .isEqualTo("Ready changed from True to False: KubeletNotReady: container runtime is down"));

        cluster.loseHistory();
        cluster.advanceTo("30S");
        cluster.controller.stop();
        cluster.advanceTo("31S");
        new Controller(CONFIG, cluster.ports).start();
        cluster.advanceTo("40S");

        assertThat(changes()).hasSize(1);
    }

    @Test
    void nodeThatChangesAThousandTimesASecondGetsFewDecisionsWithTheNumber() {
        begin(cluster);

        changes(5_000);

        assertThat(changes()).hasSize(10);
        cluster.advanceTo("40S");
        cluster.renew("n1", B.plusSeconds(40));
        cluster.advanceTo("71S");
        assertThat(changes()).hasSize(11);
        Decision rest = changes().getLast();
        assertThat(rest.at()).isEqualTo(B.plusMillis(70_010));
        assertThat(rest.text())
                .isEqualTo(
                        "Ready changed 4990 times in 1m0s, the last time to True: KubeletReady: kubelet is posting ready"
                                + " status");
        assertThat(rest.details())
                .hasToString("{\"was\":\"True\",\"ready\":\"True\",\"reason\":\"KubeletReady\","
                        + "\"message\":\"kubelet is posting ready status\",\"changedAt\":\"2015-01-01T12:00:14Z\","
                        + "\"changes\":4990,\"lastNotReady\":\"KubeletNotReady: container runtime is down\"}");
    }

    @Test
    void changesThatWaitAreStoredBeforeTheRemovalOfTheirNode() {
        begin(cluster);
        changes(12);

        cluster.deleteNode("n1");
        cluster.advance(Duration.ZERO);

        assertThat(changes()).hasSize(11);
        assertThat(cluster.decisions)
                .extracting(Decision::kind, Decision::text)
                .endsWith(
                        tuple(
                                "ReadyChanged",
                                "Ready changed 2 times in 2ms, the last time to True: KubeletReady: kubelet is posting"
                                        + " ready status"),
                        tuple("Removed", "the node object was deleted"));
        cluster.advanceTo("5M");
        assertThat(changes()).hasSize(11);
    }

    @Test
    void changesThatWaitAreStoredWhenTheControllerStops() {
        begin(cluster);
        changes(12);

        cluster.controller.stop();
        cluster.advance(Duration.ZERO);

        assertThat(changes()).hasSize(11);
    }

    @Test
    void longTextsOfANodeAreCutAndStayOnOneLine() {
        begin(cluster);

        reports(cluster, "False", "R".repeat(1_000), "one\n  two\t" + "m".repeat(1_000_000));

        Decision decision = changes().getFirst();
        assertThat(decision.text())
                .startsWith("Ready changed from True to False: RRR")
                .contains("R…: one two mmm")
                .endsWith("mmm…")
                .hasSizeLessThan(700);
        assertThat(decision.details().text("reason")).hasSize(128);
        assertThat(decision.details().text("message")).hasSize(512);
    }
}
