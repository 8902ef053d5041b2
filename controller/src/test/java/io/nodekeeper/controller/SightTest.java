package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.guard.OwnSight;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * No node becomes Unknown because of what the controller, the API server or a watch missed; other verdicts are in time.
 */
class SightTest {
    private final TestCluster cluster = new TestCluster();

    @Test
    @Tag("L26")
    void controllerThatCouldSeeNothingForAMinuteGivesEveryNodeItsWholeGrace() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.down = true;
        cluster.start();
        cluster.advanceTo("60S");

        cluster.down = false;

        cluster.advanceTo("109S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        cluster.advanceTo("115S");
        assertThat(cluster.ready("n1")).as("listed after 4 s at the latest").isEqualTo("Unknown");
    }

    @Test
    @Tag("L19")
    void conflictWithoutAHeartbeatIsWrittenAgain() {
        cluster.addNode("n1", K, ready("True", B));
        boolean[] refused = {false};
        cluster.fault = call -> {
            if (!call.method().equals("PUT") || refused[0]) {
                return Optional.empty();
            }
            refused[0] = true;
            cluster.change("n1", node -> TestCluster.taint(node, "dedicated", "NoSchedule"));
            return Optional.empty();
        };
        cluster.start();

        cluster.advanceTo("50.100S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.taints("n1"))
                .containsExactly("dedicated:NoSchedule", "node.kubernetes.io/unreachable:NoSchedule");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isEqualTo(2);
    }

    @Test
    @Tag("L20")
    void failingWriteIsRepeatedWithBackoffAndNothingElseIsDone() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.fault =
                call -> call.method().equals("PUT") ? Optional.of(TestCluster.internalError()) : Optional.empty();
        cluster.start();

        cluster.advanceTo("50.101S");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isBetween(2L, 6L);
        cluster.advanceTo("70S");
        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(cluster.events("NodeNotReady")).isEmpty();

        cluster.fault = call -> Optional.empty();
        cluster.advance(Duration.ofMillis(5001));
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.events("NodeNotReady")).hasSize(1);
    }

    @Test
    void writeWithALostAnswerIsReportedOnce() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.fault = call -> {
            if (call.method().equals("PUT")) {
                cluster.post("n1", ready("Unknown", B));
                cluster.hung = true;
                cluster.loop.schedule(Duration.ofSeconds(3), () -> cluster.hung = false);
                throw new TransportException("connection reset", null);
            }
            return Optional.empty();
        };
        cluster.start();

        cluster.advanceTo("70S");

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isEqualTo(1);
        assertThat(cluster.events("NodeNotReady")).hasSize(1);
    }

    @Test
    @Tag("L26")
    void renewalThatTheWatchMissedIsFoundByOneRead() {
        TestCluster quick = new TestCluster(
                new ControllerConfig(Duration.ofMillis(100), Duration.ofSeconds(2), Duration.ofSeconds(60)));
        quick.addNode("n1", K, ready("True", B));
        quick.renew("n1", B);
        quick.start();
        quick.renewalsUntold = true;
        quick.advanceTo("1S");
        quick.renew("n1", B.plusSeconds(1));

        quick.advanceTo("4S");

        assertThat(quick.calls("GET", "/leases/n1")).isEqualTo(1);
        assertThat(quick.ready("n1")).isEqualTo("True");

        quick.advanceTo("4.010S");
        assertThat(quick.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    @Tag("L27")
    void brokenLeaseWatchMakesNoNodeUnknown() {
        IntStream.range(0, 200).forEach(i -> cluster.addNode("n" + i, K, ready("True", B)));
        cluster.start();
        cluster.leaseWatchFrozen = true;

        for (int second = 10; second <= 600; second += 10) {
            cluster.advanceTo(second + "S");
            for (int i = 0; i < 200; i++) {
                cluster.renew("n" + i, B.plusSeconds(second));
            }
        }

        assertThat(cluster.transport.calls()).noneMatch(call -> call.method().equals("PUT"));
    }

    @Test
    void noVerdictWhileTheServerIsDownAndAFullGraceForAllNodesAfterwards() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();
        cluster.advanceTo("20S");
        cluster.down = true;
        cluster.advanceTo("10M");
        cluster.down = false;

        // The agent could not renew for as long, and takes a while to come back.
        cluster.advanceTo("630S");
        cluster.renew("n1", B.plusSeconds(630));
        cluster.advanceTo("680S");
        assertThat(cluster.ready("n1")).isEqualTo("True");

        cluster.advanceTo("680.010S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void nothingIsJudgedWhileTheServerHangs() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("40S");
        cluster.hung = true;
        cluster.advanceTo("100S");
        cluster.hung = false;
        cluster.advanceTo("109S");
        cluster.renew("n1", B.plusSeconds(109));

        cluster.advanceTo("150S");

        assertThat(cluster.transport.calls()).noneMatch(call -> call.method().equals("PUT"));
    }

    @Test
    void aStallIsPartOfWhatIsSeenAfterIt() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("20S");
        cluster.hung = true;
        cluster.advanceTo("80S");
        cluster.hung = false;

        cluster.advanceTo("90S");

        assertThat(cluster.controller.ownSight()).isInstanceOf(OwnSight.Sees.class);
        assertThat(cluster.controller.ownSight().past()).singleElement().satisfies(past -> {
            assertThat(past.from()).isBetween(Duration.ofSeconds(70), Duration.ofSeconds(72));
            assertThat(past.until()).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
        });
    }

    @Test
    void sightDoesNotDependOnPodsButReadinessDoes() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.fault = call ->
                call.target().startsWith("/api/v1/pods") ? Optional.of(TestCluster.internalError()) : Optional.empty();
        cluster.start();

        cluster.advanceTo("20S");

        assertThat(cluster.controller.ownSight()).isInstanceOf(OwnSight.Sees.class);
        assertThat(unready()).contains("pods are not listed yet");

        cluster.fault = call -> Optional.empty();
        cluster.advanceTo("40S");
        assertThat(unready()).isEmpty();
    }

    private Optional<String> unready() {
        CompletableFuture<Optional<String>> answer = cluster.controller.view().unready();
        cluster.advance(Duration.ZERO);
        return answer.join();
    }

    @Test
    void shortTroubleDoesNotPutOffAVerdict() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("47S");
        cluster.down = true;
        cluster.advanceTo("51S");
        cluster.down = false;

        cluster.advanceTo("56S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void pauseOfTheControllerMakesNoNodeUnknown() {
        cluster.addNode("alive", K, ready("True", B));
        cluster.addNode("dead", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("30S");
        cluster.loop.freeze();
        for (int second = 30; second <= 300; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("alive", B.plusSeconds(second));
        }

        cluster.loop.thaw();
        // Of the grace of 50 s there were 20 s left when the controller stood still.
        cluster.advanceTo("319S");
        assertThat(cluster.ready("alive")).isEqualTo("True");
        assertThat(cluster.ready("dead")).isEqualTo("True");

        cluster.renew("alive", B.plusSeconds(319));
        cluster.advanceTo("321.010S");
        assertThat(cluster.ready("dead")).isEqualTo("Unknown");
        assertThat(cluster.ready("alive")).isEqualTo("True");
        assertThat(cluster.controller.ownSight().past())
                .as("nodes could renew meanwhile")
                .isEmpty();
    }

    @Test
    void pauseShorterThanTheToleranceIsCoveredByTheLiveRead() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("45S");
        cluster.loop.freeze();
        cluster.advanceTo("52S");
        cluster.renew("n1", B.plusSeconds(52));
        cluster.advanceTo("53S");

        cluster.loop.thaw();
        cluster.advanceTo("60S");

        assertThat(cluster.transport.calls()).noneMatch(call -> call.method().equals("PUT"));
    }

    @Test
    void relistNeitherLosesNorAgesNodes() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.addNode("gone", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("30S");
        cluster.loseHistory();
        cluster.deleteNode("gone");

        cluster.advanceTo("50S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        assertThat(cluster.events("RegisteredNode")).hasSize(2);
        assertThat(cluster.events("RemovingNode"))
                .containsExactly(
                        "Normal RemovingNode Node gone-uid: Node gone event: Removing Node gone from Controller");

        cluster.advanceTo("50.010S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void oldEventsOfALateWatchDoNotCountTwice() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();
        FakeTransport.Watch leases = cluster.transport.watches().stream()
                .filter(watch -> watch.call().target().contains("/leases?"))
                .findFirst()
                .orElseThrow();
        cluster.renewalsUntold = true;
        cluster.advanceTo("10S");
        cluster.renew("n1", B.plusSeconds(10));
        cluster.renew("n1", B.plusSeconds(20));

        // The second renewal is found by the read at 50 s; the watch delivers only the first one, at 80 s.
        cluster.advanceTo("80S");
        leases.event(
                "MODIFIED",
                Json.parseObject("{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"103\"},"
                        + "\"spec\":{\"renewTime\":\"2015-01-01T12:00:10.000000Z\"}}"));
        cluster.advanceTo("100.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    @Tag("many")
    void tenThousandSilentNodesAreAllMarked() {
        for (int i = 0; i < 10_000; i++) {
            cluster.addNode("n" + i, K, ready("True", B));
        }
        cluster.start();

        cluster.advanceTo("50.100S");

        assertThat(IntStream.range(0, 10_000).filter(i -> cluster.ready("n" + i).equals("Unknown")))
                .hasSize(10_000);
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
    void stopBetweenTheReadAndTheWriteIsHeeded() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.afterwards = call -> {
            if (call.target().endsWith("/nodes/n1")) {
                cluster.controller.stop();
            }
        };

        cluster.advanceTo("10M");

        assertThat(cluster.calls("GET", "/nodes/n1")).isEqualTo(1);
        assertThat(cluster.ready("n1")).isEqualTo("True");
    }
}
