package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.condition;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.explain.Explanations;
import io.nodekeeper.controller.verdicts.JudgementRunner;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What counts as a sign of life, and what is written when there is none. */
class HeartbeatTest {
    private static final List<String> NEVER_UPDATED_AT_START = Stream.of(
                    "Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
            .map(type -> type + "=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:00Z")
            .toList();

    private final TestCluster cluster = new TestCluster();

    @Test
    @Tag("L1")
    void oldNodeThatNeverReportedBecomesUnknownAtOnce() {
        cluster.addNode("n1", K);

        cluster.start().advance(Duration.ofMillis(10));

        assertThat(cluster.conditions("n1")).isEqualTo(NEVER_UPDATED_AT_START);
        assertThat(cluster.node("n1").ready().orElseThrow().message()).isEqualTo("Kubelet never posted node status.");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isEqualTo(1);
        assertThat(cluster.events("NodeNotReady")).isEmpty();
    }

    @Test
    @Tag("L2")
    @Tag("L3")
    void newNodeHasItsStartupGraceToReport() {
        cluster.addNode("n1", B);
        cluster.start();

        cluster.advanceTo("60S");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();

        cluster.advanceTo("60.002S");
        assertThat(cluster.conditions("n1"))
                .hasSize(4)
                .contains("Ready=Unknown NodeStatusNeverUpdated 2015-01-01T12:00:00Z 2015-01-01T12:01:00Z");
    }

    @Test
    @Tag("L4")
    @Tag("L6")
    @Tag("L12")
    @Tag("L30")
    void silentNodeBecomesUnknownStrictlyAfterItsGrace() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();

        cluster.advanceTo("50S");
        assertThat(cluster.ready("n1")).isEqualTo("True");

        cluster.advanceTo("50.002S");
        assertThat(cluster.conditions("n1"))
                .containsExactly(
                        "Ready=Unknown NodeStatusUnknown 2015-01-01T12:00:00Z 2015-01-01T12:00:50Z",
                        "MemoryPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:50Z",
                        "DiskPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:50Z",
                        "PIDPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:50Z");
        assertThat(cluster.node("n1").ready().orElseThrow().message())
                .isEqualTo("Kubelet stopped posting node status.");
        assertThat(cluster.node("n1").status().object("capacity").text("cpu")).isEqualTo("10");
        assertThat(cluster.events("NodeNotReady"))
                .containsExactly("Normal NodeNotReady Node n1-uid: Node n1 status is now: NodeNotReady");
        cluster.advance(Duration.ofHours(1));
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isEqualTo(1);
    }

    @Test
    @Tag("L5")
    @Tag("L18")
    void onlyConditionsOfTheAgentBecomeUnknown() {
        cluster.addNode(
                "n1",
                K,
                ready("True", B),
                condition("DiskPressure", "False", B),
                condition("NetworkUnavailable", "False", B));
        cluster.start();

        cluster.advanceTo("51S");

        assertThat(cluster.conditions("n1"))
                .containsExactly(
                        "Ready=Unknown NodeStatusUnknown 2015-01-01T12:00:00Z 2015-01-01T12:00:50Z",
                        "DiskPressure=Unknown NodeStatusUnknown 2015-01-01T12:00:00Z 2015-01-01T12:00:50Z",
                        "NetworkUnavailable=False KubeletSays 2015-01-01T12:00:00Z 2015-01-01T12:00:00Z",
                        "MemoryPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:50Z",
                        "PIDPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:50Z");
    }

    @Test
    @Tag("L8")
    @Tag("L83")
    void leaseAloneKeepsANodeAlive() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();

        for (int i = 1; i <= 360; i++) {
            cluster.renew("n1", B.plusSeconds(10L * i));
            cluster.advance(Duration.ofSeconds(10));
        }

        assertThat(cluster.ready("n1")).isEqualTo("True");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
        assertThat(cluster.calls("GET", "/leases/n1")).isZero();
    }

    @Test
    @Tag("L10")
    void leaseThatIsNotRenewedDoesNotHelpANodeWithoutStatus() {
        cluster.addNode("n1", K);
        cluster.renew("n1", B);

        cluster.start();
        cluster.advanceTo("60S");
        assertThat(cluster.conditions("n1")).isEmpty();
        cluster.advanceTo("60.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    @Tag("L14")
    void leaseThatIsRenewedBackwardsIsASignOfLife() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();

        for (int i = 1; i <= 60; i++) {
            cluster.advance(Duration.ofSeconds(10));
            cluster.renew("n1", B.plusSeconds(10L * i - 600));
        }
        assertThat(cluster.ready("n1")).isEqualTo("True");

        for (int i = 1; i <= 60; i++) {
            cluster.advance(Duration.ofSeconds(10));
            cluster.renew("n1", B.minusSeconds(3600L * i));
        }
        assertThat(cluster.ready("n1")).isEqualTo("True");
    }

    @Test
    @Tag("L16")
    void nodeThatIsUnknownAlreadyIsLeftAlone() {
        cluster.addNode("n1", K, ready("Unknown", B), condition("MemoryPressure", "False", B));
        cluster.start();

        cluster.advance(Duration.ofHours(1));

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
        assertThat(cluster.conditions("n1"))
                .contains("MemoryPressure=False KubeletSays 2015-01-01T12:00:00Z 2015-01-01T12:00:00Z");
        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
    }

    @Test
    @Tag("L17")
    void nodeThatWasNotReadyBecomesUnknownWithoutEvent() {
        cluster.addNode("n1", K, ready("False", B));
        cluster.start();

        cluster.advanceTo("50.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.events("NodeNotReady")).isEmpty();
    }

    @Test
    @Tag("L22")
    void newControllerGivesEverybodyAFullGrace() {
        cluster.addNode("n1", K, ready("True", B.minusSeconds(3600)));
        cluster.renew("n1", B.minusSeconds(3600));
        cluster.start();

        cluster.advanceTo("50S");
        assertThat(cluster.ready("n1")).isEqualTo("True");

        cluster.advanceTo("50.010S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    @Tag("L23")
    void nodeWhoseReadyConditionVanishesHasItsStartupGrace() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("20S");
        cluster.change("n1", node -> node.update("status", status -> status.with("conditions", JsonArray.EMPTY)));

        cluster.advanceTo("60S");
        assertThat(cluster.ready("n1")).isEqualTo("none");

        cluster.advanceTo("60.010S");
        assertThat(cluster.conditions("n1"))
                .contains("Ready=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:01:00Z");
    }

    @Test
    @Tag("L24")
    void oldLeaseIsNotCreditedTwice() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();
        cluster.advanceTo("5S");
        cluster.post("n1", ready("True", B.plusSeconds(5)));

        cluster.advanceTo("55.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    @Tag("L25")
    void recreatedNodeStartsAfresh() {
        cluster.addNode("n1", "uid-1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("600S");
        cluster.deleteNode("n1");
        cluster.addNode("n1", "uid-2", B.plusSeconds(600));

        cluster.advanceTo("660S");
        assertThat(cluster.ready("n1")).isEqualTo("none");

        cluster.advanceTo("660.010S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.events("RemovingNode"))
                .containsExactly("Normal RemovingNode Node uid-1: Node n1 event: Removing Node n1 from Controller");
    }

    @Test
    @Tag("L28")
    void firstSightIsToldOnce() {
        cluster.addNode("node0", "1234567890", K, ready("Unknown", B));

        cluster.start().advance(Duration.ofMinutes(10));

        assertThat(cluster.events)
                .containsExactly("Normal RegisteredNode Node 1234567890: "
                        + "Node node0 event: Registered Node node0 in Controller");
    }

    @Test
    @Tag("L29")
    void removalIsTold() {
        cluster.addNode("node0", K, ready("True", B));
        cluster.start();

        cluster.deleteNode("node0");
        cluster.advance(Duration.ofMinutes(10));

        assertThat(cluster.events("RemovingNode"))
                .containsExactly(
                        "Normal RemovingNode Node node0-uid: Node node0 event: Removing Node node0 from Controller");
        assertThat(cluster.calls("GET", "/nodes/node0")).isZero();
    }

    @Test
    @Tag("L79")
    void heartbeatLaterThanTheGraceIsABriefUnknownAndRecovers() {
        TestCluster shortGrace = new TestCluster(
                new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(40), Duration.ofSeconds(60)));
        for (TestCluster each : List.of(shortGrace, cluster)) {
            each.addNode("n1", K, ready("True", B));
            each.start();
            each.advanceTo("41S");
        }
        assertThat(shortGrace.ready("n1")).isEqualTo("Unknown");
        assertThat(shortGrace.taints("n1")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
        assertThat(cluster.ready("n1")).isEqualTo("True");

        LogLines log = LogLines.of(Explanations.class);
        shortGrace.post("n1", ready("True", B.plusSeconds(41)));
        shortGrace.advance(Duration.ofSeconds(1));

        assertThat(log.lines())
                .containsExactly("Node n1 sends heartbeats again: not updated for 41s, now status, Ready=True");
        assertThat(shortGrace.taints("n1")).isEmpty();
        assertThat(shortGrace.events("NodeNotReady")).hasSize(1);
    }

    @Test
    @Tag("L84")
    void stoppedAgentIsNoticedAfterItsLastRenewal() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        for (int i = 1; i <= 10; i++) {
            cluster.advance(Duration.ofSeconds(10));
            cluster.renew("n1", B.plusSeconds(10L * i));
        }
        LogLines log = LogLines.of(JudgementRunner.class);

        cluster.advanceTo("150S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        cluster.advanceTo("150.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(log.lines())
                .singleElement()
                .asString()
                .startsWith("Node n1 is now Unknown: last signal lease 50s ago, deadline missed by 0s;");
    }

    @Test
    void unknownByItselfIsNoSignOfLife() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("30S");
        Instant now = B.plusSeconds(30);

        cluster.post("n1", Condition.of("Ready", "Unknown", "NodeStatusUnknown", "another controller", B, now));
        cluster.post("n1", Condition.of("Ready", "True", "KubeletSays", "restored by hand", B, now));
        cluster.advanceTo("80.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isEqualTo(1);
    }
}
