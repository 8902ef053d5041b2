package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** From a node's last heartbeat to the end of its pods, in a zone whose other nodes are healthy. */
@ParameterizedClass
@EnumSource(Mode.class)
class WholeChainTest {
    private final Mode mode;
    private final TestCluster cluster;
    private boolean flapping;

    WholeChainTest(Mode mode) {
        this.mode = mode;
        this.cluster = mode.cluster();
        for (int i = 0; i < 3; i++) {
            cluster.addNode("well" + i, K, ready("True", B));
        }
    }

    @Test
    @Tag("L1")
    void podOfANodeThatNeverReportedIsLeftAloneByTheReference() {
        cluster.addNode("n1", K);
        cluster.pods.add("pod0", "n1");
        cluster.start();

        advanceTo(20);

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.pods.writes("pod0")).isEqualTo(mode == Mode.REFERENCE ? 0 : 1);
        assertThat(cluster.events("NodeNotReady")).noneMatch(event -> event.contains("status is now"));
    }

    @Test
    @Tag("L2")
    void podOfANodeThatMayStillReportIsLeftAlone() {
        cluster.addNode("n1", B);
        cluster.pods.add("pod0", "n1");
        cluster.start();

        advanceTo(59);

        assertThat(cluster.pods.writes("pod0")).isZero();
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
    }

    @Test
    @Tag("L4")
    @Tag("L30")
    void podOfASilentNodeIsMarkedWithTheVerdict() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.pods.add("pod0", "n1");
        cluster.pods.add("pod1", "well0");
        cluster.start();

        advanceTo(50);
        assertThat(cluster.pods.ready("pod0")).isEqualTo("True 2015-01-01T11:00:05Z");
        mode.advanceToVerdict(cluster, 50);

        assertThat(cluster.pods.ready("pod0")).isEqualTo("False " + mode.verdict(50));
        assertThat(cluster.pods.ready("pod1")).isEqualTo("True 2015-01-01T11:00:05Z");
        assertThat(cluster.pods.writes("pod0")).isEqualTo(1);
        assertThat(cluster.events("NodeNotReady"))
                .containsExactlyInAnyOrder(
                        "Normal NodeNotReady Node n1-uid: Node n1 status is now: NodeNotReady",
                        "Warning NodeNotReady Pod pod0-uid: Node is not ready");
    }

    @Test
    @Tag("L17")
    @Tag("L37")
    void podOfANodeThatSaidItIsNotReadyIsNotMarkedByTheReferenceEvenWhenItFallsSilent() {
        cluster.addNode("n1", K, ready("False", B));
        cluster.pods.add("pod0", "n1");
        cluster.start();

        advanceTo(100);

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.events("NodeNotReady")).noneMatch(event -> event.contains("status is now"));
        assertThat(cluster.pods.ready("pod0"))
                .isEqualTo(mode == Mode.REFERENCE ? "True 2015-01-01T11:00:05Z" : "False 2015-01-01T12:00:00Z");
    }

    @Test
    @Tag("L20")
    void nothingIsDoneAboutANodeThatCannotBeWritten() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.pods.add("pod0", "n1");
        cluster.fault =
                call -> call.method().equals("PUT") ? Optional.of(TestCluster.internalError()) : Optional.empty();
        cluster.start();

        advanceTo(80);

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isGreaterThan(1);
        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(cluster.pods.writes("pod0")).isZero();
    }

    @Test
    @Tag("L49")
    @Tag("L61")
    @Tag("L62")
    void podLeavesFiveMinutesAfterItsNodesTaint() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.pods.add("pod0", "n1");
        cluster.pods.add("pod1", "well0");
        cluster.start();

        advanceTo(400);

        // The verdict is at 50 s, or with a pass at 55 s; timeAdded has whole seconds, so the pod leaves when the 300 s
        // are
        // over whenever in that second the taint was added. The reference taints with its next pass.
        String end = switch (mode) {
            case DEADLINES -> "pod0@351";
            case GUARDED_PASS -> "pod0@356";
            case REFERENCE -> "pod0@360";
        };
        assertThat(cluster.pods.deleted).containsExactly(end);
        assertThat(cluster.taints("n1"))
                .containsExactlyInAnyOrder(
                        "node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute");
        assertThat(cluster.events("TaintManagerEviction"))
                .singleElement()
                .asString()
                .endsWith("pod0");
    }

    @Test
    @Tag("L80")
    @Tag("W2")
    void slowWritesOfPodsNeitherHarmNodesThatRenewNorDelayOtherVerdicts() {
        cluster.addNode("dead", K, ready("True", B));
        cluster.addNode("later", K, ready("True", B));
        for (int i = 0; i < 40; i++) {
            cluster.pods.add("pod" + i, "dead");
        }
        cluster.hangs = call -> call.target().contains("/pods/");
        cluster.start();

        for (int second = 39; second <= 99; second += 30) {
            advanceTo(second);
            cluster.post("later", ready("True", B.plusSeconds(second)));
        }
        advanceTo(148);
        assertThat(cluster.ready("later")).isEqualTo("True");
        mode.advanceToVerdict(cluster, 150);
        assertThat(cluster.ready("later")).isEqualTo("Unknown");
        advanceTo(300);

        assertThat(cluster.ready("dead")).isEqualTo("Unknown");
        assertThat(cluster.transport.calls()).anyMatch(cluster.hangs);
        for (String well : List.of("well0", "well1", "well2")) {
            assertThat(cluster.calls("PUT", "/nodes/" + well + "/status")).isZero();
        }
    }

    @Test
    @Tag("L81")
    void flappingNodeIsNeverUnknownAndLosesNoPod() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.pods.add("pod0", "n1");
        cluster.start();
        flapping = true;

        for (int cycle = 0; cycle < 2; cycle++) {
            int begin = 240 * cycle;
            advanceTo(begin + 180);
            cluster.post("n1", ready("False", B.plusSeconds(begin + 180)));
            cluster.advance(Duration.ofSeconds(1));
            assertThat(cluster.noSchedule("n1")).containsExactly("node.kubernetes.io/not-ready");
            cluster.advance(Duration.ofMillis(4_100));
            assertThat(cluster.taints("n1")).contains("node.kubernetes.io/not-ready:NoExecute");
            advanceTo(begin + 240);
            cluster.post("n1", ready("True", B.plusSeconds(begin + 240)));
        }
        advanceTo(900);

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
        assertThat(cluster.pods.deleted).isEmpty();
        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(cluster.events("TaintManagerEviction"))
                .hasSize(2)
                .allMatch(event -> event.endsWith("Cancelling deletion of Pod default/pod0"));
    }

    @Test
    @Tag("L81")
    @Tag("W8")
    void nodeThatKeepsFlappingKeepsItsTaintsAndEvictionTimes() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.pods.add("pod0", "n1");
        cluster.start();
        flapping = true;

        for (int cycle = 0; cycle < 8; cycle++) {
            int begin = 240 * cycle;
            advanceTo(begin + 180);
            cluster.post("n1", ready("False", B.plusSeconds(begin + 180)));
            advanceTo(begin + 240);
            cluster.post("n1", ready("True", B.plusSeconds(begin + 240)));
        }
        advanceTo(2000);

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
        if (mode == Mode.REFERENCE) {
            assertThat(cluster.pods.deleted).isEmpty();
            assertThat(cluster.events("TaintManagerEviction")).hasSize(8);
            assertThat(cluster.taints("n1")).isEmpty();
        } else {
            // Damped from its third fall at 660 s on; 300 s later the pod moves to a node that does not flap.
            assertThat(cluster.pods.deleted).containsExactly("pod0@961");
            assertThat(cluster.metric("nodekeeper_node_flaps_total")).isEqualTo("8.0");
            assertThat(cluster.taints("n1")).contains("node.kubernetes.io/not-ready:NoExecute");
        }
    }

    /** Advances to that second; healthy and flapping nodes renew each 10 s. */
    private void advanceTo(int second) {
        long now = cluster.time.elapsed().toSeconds();
        for (long next = now - now % 10 + 10; next <= second; next += 10) {
            cluster.advanceTo(next + "S");
            for (int i = 0; i < 3; i++) {
                cluster.renew("well" + i, B.plusSeconds(next));
            }
            if (flapping) {
                cluster.renew("n1", B.plusSeconds(next));
            }
        }
        cluster.advanceTo(second + "S");
    }
}
