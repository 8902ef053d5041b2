package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.condition;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.verdicts.JudgementRunner;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Scenarios with the same outcome in every mode: deadlines of single nodes, guarded passes, and the reference. */
@ParameterizedClass
@EnumSource(Mode.class)
class EveryModeTest {
    private final Mode mode;
    private final TestCluster cluster;

    EveryModeTest(Mode mode) {
        this.mode = mode;
        this.cluster = mode.cluster();
    }

    @Test
    @Tag("L1")
    void oldNodeThatNeverReportedBecomesUnknownAtOnce() {
        cluster.addNode("n1", K);

        cluster.start().advance(Duration.ofMillis(10));

        assertThat(cluster.conditions("n1"))
                .containsExactly(
                        "Ready=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:00Z",
                        "MemoryPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:00Z",
                        "DiskPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:00Z",
                        "PIDPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T12:00:00Z");
        assertThat(cluster.node("n1").ready().orElseThrow().message()).isEqualTo("Kubelet never posted node status.");
        cluster.advance(Duration.ofSeconds(20));
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

        mode.advanceToPromptVerdict(cluster, 60);
        assertThat(cluster.conditions("n1"))
                .hasSize(4)
                .contains("Ready=Unknown NodeStatusNeverUpdated 2015-01-01T12:00:00Z " + mode.verdict(60));
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

        mode.advanceToPromptVerdict(cluster, 50);
        assertThat(cluster.conditions("n1"))
                .containsExactly(
                        "Ready=Unknown NodeStatusUnknown 2015-01-01T12:00:00Z " + mode.verdict(50),
                        "MemoryPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z " + mode.verdict(50),
                        "DiskPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z " + mode.verdict(50),
                        "PIDPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z " + mode.verdict(50));
        assertThat(cluster.node("n1").ready().orElseThrow().message())
                .isEqualTo("Kubelet stopped posting node status.");
        assertThat(cluster.node("n1").status().object("capacity").text("cpu")).isEqualTo("10");
        cluster.advance(Duration.ofHours(1));
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isEqualTo(1);
        assertThat(cluster.events("NodeNotReady"))
                .containsExactly("Normal NodeNotReady Node n1-uid: Node n1 status is now: NodeNotReady");
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

        mode.advanceToVerdict(cluster, 50);

        assertThat(cluster.conditions("n1"))
                .containsExactly(
                        "Ready=Unknown NodeStatusUnknown 2015-01-01T12:00:00Z " + mode.verdict(50),
                        "DiskPressure=Unknown NodeStatusUnknown 2015-01-01T12:00:00Z " + mode.verdict(50),
                        "NetworkUnavailable=False KubeletSays 2015-01-01T12:00:00Z 2015-01-01T12:00:00Z",
                        "MemoryPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z " + mode.verdict(50),
                        "PIDPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z " + mode.verdict(50));
    }

    @Test
    @Tag("L7")
    @Tag("L11")
    void statusAloneKeepsANodeAlive() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();

        for (int i = 1; i <= 360; i++) {
            cluster.advance(Duration.ofSeconds(10));
            cluster.post("n1", ready("True", B.plusSeconds(10L * i)));
        }

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
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
    @Tag("L9")
    void leaseKeepsANodeWithoutAnyStatusAlive() {
        cluster.addNode("n1", B);
        cluster.start();

        for (int i = 1; i <= 360; i++) {
            cluster.renew("n1", B.plusSeconds(10L * i));
            cluster.advance(Duration.ofSeconds(10));
        }

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
    }

    @Test
    @Tag("L10")
    void leaseThatIsNotRenewedDoesNotHelpANodeWithoutStatus() {
        cluster.addNode("n1", K);
        cluster.renew("n1", B);
        cluster.start();

        cluster.advance(Duration.ofHours(1));

        assertThat(cluster.conditions("n1"))
                .hasSize(4)
                .allMatch(text -> text.contains("=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z "));
    }

    @Test
    @Tag("L13")
    void nodeWithAWrongClockIsAlive() {
        cluster.addNode("fast", K, ready("True", B.plusSeconds(7200)));
        cluster.addNode("slow", K, ready("True", B.minusSeconds(7200)));
        cluster.start();

        for (int i = 1; i <= 60; i++) {
            cluster.advance(Duration.ofSeconds(10));
            cluster.post("fast", ready("True", B.plusSeconds(7200 + 10L * i)));
            cluster.post("slow", ready("True", B.plusSeconds(10L * i - 7200)));
        }

        assertThat(cluster.ready("fast")).isEqualTo("True");
        assertThat(cluster.ready("slow")).isEqualTo("True");
    }

    @Test
    @Tag("L15")
    void heartbeatWithAnEarlierTimeIsAHeartbeat() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();

        for (int i = 1; i <= 20; i++) {
            cluster.advance(Duration.ofSeconds(40));
            cluster.post("n1", ready("True", B.minusSeconds(3600L * i)));
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

        mode.advanceToVerdict(cluster, 50);

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.events("NodeNotReady")).isEmpty();
    }

    @Test
    @Tag("L19")
    void heartbeatThatArrivesDuringTheWriteRescuesTheNode() {
        cluster.addNode("n1", K, ready("True", B));
        boolean[] refused = {false};
        cluster.fault = call -> {
            if (!call.target().endsWith("/n1/status") || refused[0]) {
                return Optional.empty();
            }
            refused[0] = true;
            cluster.post("n1", ready("True", B.plusSeconds(50)));
            return Optional.of(FakeTransport.refusal(ApiException.modified(ResourceType.NODES, "n1")));
        };
        cluster.start();

        mode.advanceToVerdict(cluster, 51);

        assertThat(refused[0]).isTrue();
        assertThat(cluster.ready("n1")).isEqualTo("True");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isEqualTo(1);
        assertThat(cluster.events("NodeNotReady")).isEmpty();
    }

    @Test
    @Tag("L21")
    void nodeThatIsGoneDuringTheWriteIsLeftAlone() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.fault = call -> {
            if (call.target().endsWith("/n1/status")) {
                cluster.deleteNode("n1");
            }
            return Optional.empty();
        };
        LogLines log = LogLines.of(JudgementRunner.class);
        cluster.start();

        cluster.advanceTo("10M");

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isEqualTo(1);
        assertThat(cluster.calls("PATCH", "/nodes/n1")).isZero();
        assertThat(cluster.events("NodeNotReady")).isEmpty();
        assertThat(log.lines()).isEmpty();
    }

    @Test
    @Tag("L22")
    void newControllerGivesEveryNodeItsFullGrace() {
        cluster.addNode("n1", K, ready("True", B.minusSeconds(3600)));
        cluster.renew("n1", B.minusSeconds(3600));
        cluster.start();

        cluster.advanceTo("50S");
        assertThat(cluster.ready("n1")).isEqualTo("True");

        mode.advanceToVerdict(cluster, 50);
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    @Tag("L23")
    void nodeWhoseReadyConditionVanishesHasItsStartupGraceFromItsLastHeartbeat() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("20S");
        cluster.change("n1", node -> node.update("status", status -> status.without("conditions")));

        cluster.advanceTo("60S");
        assertThat(cluster.ready("n1")).isEqualTo("none");

        mode.advanceToVerdict(cluster, 60);
        assertThat(cluster.conditions("n1"))
                .contains("Ready=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z " + mode.verdict(60));
    }

    @Test
    @Tag("L28")
    void newNodeIsReportedOnce() {
        cluster.addNode("node0", "1234567890", K, ready("Unknown", B));

        cluster.start().advance(Duration.ofMinutes(10));

        assertThat(cluster.events)
                .containsExactly("Normal RegisteredNode Node 1234567890: "
                        + "Node node0 event: Registered Node node0 in Controller");
    }

    @Test
    @Tag("L29")
    void removedNodeIsReported() {
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
                new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(40), Duration.ofSeconds(60))
                        .with(mode.config().gates()));
        for (TestCluster each : List.of(shortGrace, cluster)) {
            each.addNode("n1", K, ready("True", B));
            each.start();
            mode.advanceToVerdict(each, 40);
        }
        assertThat(shortGrace.ready("n1")).isEqualTo("Unknown");
        assertThat(shortGrace.noSchedule("n1")).containsExactly("node.kubernetes.io/unreachable");
        assertThat(cluster.ready("n1")).isEqualTo("True");

        shortGrace.post("n1", ready("True", B.plusSeconds(41)));
        shortGrace.advance(Duration.ofSeconds(1));

        assertThat(shortGrace.ready("n1")).isEqualTo("True");
        assertThat(shortGrace.events("NodeNotReady")).hasSize(1);
    }

    @Test
    @Tag("L81")
    void nodeThatReportsNotReadyAgainAndAgainIsNeverUnknown() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();

        for (int second = 10; second <= 1200; second += 10) {
            cluster.advanceTo(second + "S");
            boolean down = second % 240 > 180;
            cluster.renew("n1", B.plusSeconds(second));
            cluster.post("n1", ready(down ? "False" : "True", B.plusSeconds(second)));
            cluster.advance(Duration.ofSeconds(1));
            assertThat(cluster.ready("n1")).isEqualTo(down ? "False" : "True");
            if (down) {
                assertThat(cluster.noSchedule("n1")).containsExactly("node.kubernetes.io/not-ready");
            }
        }

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
    }

    @Test
    @Tag("L82")
    void nodeThatSaysThatItsRuntimeIsDownIsNotReadyAndNotUnreachable() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();

        for (int second = 10; second <= 300; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.post(
                    "n1",
                    Condition.of(
                            "Ready",
                            "False",
                            "KubeletNotReady",
                            "container runtime is down",
                            B.plusSeconds(second),
                            B));
            cluster.advance(Duration.ofSeconds(1));
            assertThat(cluster.noSchedule("n1")).containsExactly("node.kubernetes.io/not-ready");
        }
    }

    @Test
    @Tag("L84")
    void stoppedAgentIsNoticedAfterItsLastRenewal() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        for (int second = 9; second <= 99; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second));
        }

        cluster.advanceTo("149S");
        assertThat(cluster.ready("n1")).isEqualTo("True");

        cluster.advanceTo("156S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void stoppedControllerWritesNothing() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("49S");

        cluster.controller.stop();
        cluster.advanceTo("10M");

        assertThat(cluster.ready("n1")).isEqualTo("True");
        assertThat(cluster.transport.watches()).allMatch(FakeTransport.Watch::cancelled);
    }

    @Test
    @Tag("L9")
    void oldNodeWithoutStatusIsAliveByItsRenewals() {
        TestCluster cluster = mode.cluster();
        cluster.addNode("n1", K);
        cluster.renew("n1", B);
        cluster.start();

        for (int second = 10; second <= 3600; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second));
        }

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
    }

    @Test
    @Tag("L10")
    void itIsUnknownAfterItsStartupGraceIfRenewalsEnd() {
        TestCluster cluster = mode.cluster();
        cluster.addNode("n1", K);
        cluster.renew("n1", B);
        cluster.start();

        cluster.advanceTo("60S");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
        mode.advanceToVerdict(cluster, 60);

        assertThat(cluster.conditions("n1"))
                .contains("Ready=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z " + mode.verdict(60));
    }
}
