package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Heartbeats in the default mode, where it differs from the others, and what the log says. {@link EveryModeTest} has
 * the rest.
 */
class HeartbeatTest {
    private final TestCluster cluster = new TestCluster();

    @Test
    @Tag("L14")
    void renewalWithAnEarlierTimeIsAHeartbeat() {
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
    @Tag("L23")
    void nodeWithAnEmptyListOfConditionsHasItsStartupGrace() {
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
    void recreatedNodeInheritsNothing() {
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
    @Tag("L79")
    void recoveryOfASilentNodeIsLogged() {
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
    void verdictIsLoggedWithTheLastSignal() {
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
    void changeToUnknownIsNoHeartbeat() {
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

    @ParameterizedTest
    @CsvSource({"0001-01-01T00:00:00Z, 1S", "9999-12-31T23:59:59Z, 60.010S"})
    void nodeOfAnyAgeIsJudgedAndKeepsTheOthersFromNothing(Instant created, String judged) {
        // given a node that was created at a limit of the calendar, has never reported, and is listed first
        cluster.addNode("a", created);
        cluster.addNode("b", K, ready("True", B));

        // when both are silent
        cluster.start();
        cluster.advanceTo(judged);

        // then each is judged in its time
        assertThat(cluster.ready("a")).isEqualTo("Unknown");
        cluster.advanceTo("61S");
        assertThat(cluster.ready("b")).isEqualTo("Unknown");
    }
}
