package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.LogLines;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import io.nodekeeper.controller.reference.MonitorPass;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the reference's monitor pass has another outcome than deadlines of single nodes. */
class MonitorPassTest {
    private final TestCluster reference = Mode.REFERENCE.cluster();

    @ParameterizedTest(name = "ObserverGuard={0}, WatchDrivenDeadlines={1}: {2} of 100")
    @CsvSource({"false, false, 100", "true, false, 0", "true, true, 0"})
    @Tag("I-1")
    @Tag("W1")
    void leaseWatchThatStallsFor70Seconds(boolean guard, boolean deadlines, int falseVerdicts) {
        FeatureGates gates = FeatureGates.ALL;
        gates = guard ? gates : gates.without(ControllerFeature.OBSERVER_GUARD);
        gates = deadlines ? gates : gates.without(ControllerFeature.WATCH_DRIVEN_DEADLINES);
        TestCluster cluster = new TestCluster(CONFIG.with(gates));
        IntStream.range(0, 100).forEach(i -> cluster.addNode("n" + i, K, ready("True", B)));
        IntStream.range(0, 100).forEach(i -> cluster.renew("n" + i, B));
        cluster.start();

        for (int second = 10; second <= 120; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.leaseWatchFrozen = second >= 30 && second < 100;
            for (int i = 0; i < 100; i++) {
                cluster.renew("n" + i, B.plusSeconds(second));
            }
        }

        assertThat(IntStream.range(0, 100).filter(i -> cluster.ready("n" + i).equals("Unknown")))
                .hasSize(falseVerdicts);
        assertThat(cluster.events("NodeNotReady")).hasSize(falseVerdicts);
    }

    @Test
    @Tag("L14")
    @Tag("W12")
    void renewalWithAnEarlierTimeIsNoHeartbeatForTheReference() {
        reference.addNode("n1", K, ready("True", B));
        reference.renew("n1", B);
        reference.start();

        for (int second = 5; second <= 60; second += 5) {
            reference.advanceTo(second + "S");
            assertThat(reference.ready("n1")).isEqualTo(second < 55 ? "True" : "Unknown");
            reference.renew("n1", B.plusSeconds(second - 600));
        }
    }

    @Test
    @Tag("L20")
    void failingWriteIsTriedForATenthOfASecondAndLeftToTheNextPass() {
        reference.addNode("n1", K, ready("True", B));
        reference.fault =
                call -> call.method().equals("PUT") ? Optional.of(TestCluster.internalError()) : Optional.empty();
        reference.start();

        reference.advanceTo("55.099S");
        assertThat(reference.calls("PUT", "/nodes/n1/status")).isEqualTo(5);
        assertThat(reference.calls("GET", "/nodes/n1")).isEqualTo(5);
        reference.advanceTo("60S");
        assertThat(reference.calls("PUT", "/nodes/n1/status")).isEqualTo(6);
        assertThat(reference.taints("n1")).isEmpty();
        assertThat(reference.events("NodeNotReady")).isEmpty();

        // The period begins when the pass has ended, after 100 ms of tries.
        reference.fault = call -> Optional.empty();
        reference.advanceTo("60.110S");
        assertThat(reference.ready("n1")).isEqualTo("Unknown");
        assertThat(reference.events("NodeNotReady")).hasSize(1);
    }

    @Test
    void slowServerLeavesRoomForFewerTries() {
        reference.addNode("n1", K, ready("True", B));
        reference.fault = call -> {
            if (call.method().equals("PUT")) {
                // Each read takes 30 ms, as far as the controller can tell.
                reference.loop.freeze();
                reference.time.loop("server").schedule(Duration.ofMillis(30), reference.loop::thaw);
                return Optional.of(TestCluster.internalError());
            }
            return Optional.empty();
        };
        reference.start();

        reference.advanceTo("56S");

        assertThat(reference.calls("PUT", "/nodes/n1/status")).isEqualTo(3);
    }

    @Test
    @Tag("L24")
    void oldLeaseIsCreditedTwiceAfterAHeartbeat() {
        reference.addNode("n1", K, ready("True", B));
        reference.renew("n1", B);
        reference.start();
        reference.advanceTo("4S");
        reference.post("n1", ready("True", B.plusSeconds(4)));

        // The heartbeat is seen at 5 s; at 10 s the old lease counts again.
        reference.advanceTo("60.010S");
        assertThat(reference.ready("n1")).isEqualTo("True");

        reference.advanceTo("65.010S");
        assertThat(reference.ready("n1")).isEqualTo("Unknown");
    }

    @ParameterizedTest
    @CsvSource({"REFERENCE, Unknown", "GUARDED_PASS, none"})
    @Tag("L25")
    @Tag("W9")
    void recreatedNodeInheritsTheSilenceOfItsNameWhereStateIsByName(Mode mode, String ready) {
        TestCluster cluster = mode.cluster();
        cluster.addNode("n1", "uid-1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("596S");
        cluster.deleteNode("n1");
        cluster.advanceTo("602S");
        cluster.addNode("n1", "uid-2", B.plusSeconds(602));

        cluster.advanceTo("610S");
        assertThat(cluster.ready("n1")).isEqualTo(ready);
        assertThat(cluster.events("RemovingNode")).hasSize(1);

        cluster.advanceTo("670S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @ParameterizedTest
    @CsvSource({"REFERENCE, 0", "GUARDED_PASS, 1"})
    @Tag("L25")
    @Tag("W9")
    void recreationBetweenTwoPassesIsUnseenWhereStateIsByName(Mode mode, int removed) {
        TestCluster cluster = mode.cluster();
        cluster.addNode("n1", "uid-1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("596S");
        cluster.deleteNode("n1");
        cluster.addNode("n1", "uid-2", B.plusSeconds(596), ready("True", B.plusSeconds(596)));

        cluster.advanceTo("610S");

        assertThat(cluster.events("RemovingNode")).hasSize(removed);
        assertThat(cluster.events("RegisteredNode")).hasSize(1 + removed);
    }

    @Test
    @Tag("L26")
    void renewalThatTheWatchMissedIsFoundByOneReadPerGrace() {
        TestCluster quick = new TestCluster(
                new ControllerConfig(Duration.ofMillis(100), Duration.ofSeconds(2), Duration.ofSeconds(60))
                        .with(Mode.GUARDED_PASS.config().gates()));
        quick.addNode("n1", K, ready("True", B));
        quick.renew("n1", B);
        quick.start();
        quick.leaseWatchFrozen = true;
        quick.advanceTo("1S");
        quick.renew("n1", B.plusSeconds(1));

        quick.advanceTo("4.050S");

        assertThat(quick.calls("GET", "/leases/n1")).isEqualTo(1);
        assertThat(quick.ready("n1")).isEqualTo("True");

        quick.advanceTo("4.300S");
        assertThat(quick.calls("GET", "/leases/n1")).isEqualTo(2);
        assertThat(quick.ready("n1")).isEqualTo("Unknown");
    }

    @ParameterizedTest
    @CsvSource({"REFERENCE, 200", "GUARDED_PASS, 0"})
    @Tag("L27")
    void brokenLeaseWatch(Mode mode, int falseVerdicts) {
        TestCluster cluster = mode.cluster();
        IntStream.range(0, 200).forEach(i -> cluster.addNode("n" + i, K, ready("True", B)));
        cluster.start();
        cluster.leaseWatchFrozen = true;

        for (int second = 10; second <= 600; second += 10) {
            cluster.advanceTo(second + "S");
            for (int i = 0; i < 200; i++) {
                cluster.renew("n" + i, B.plusSeconds(second));
            }
        }

        assertThat(cluster.transport.calls().stream()
                        .filter(call -> call.target().endsWith("/status")))
                .hasSize(falseVerdicts);
    }

    @Test
    void guardedPassSkipsANodeWhoseLeaseCannotBeRead() {
        TestCluster cluster = Mode.GUARDED_PASS.cluster();
        cluster.addNode("n1", K, ready("True", B));
        cluster.fault = call ->
                call.target().endsWith("/leases/n1") ? Optional.of(TestCluster.internalError()) : Optional.empty();
        cluster.start();

        cluster.advanceTo("10M");

        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
    }

    @Test
    @Tag("W20")
    void verdictOfAPassIsExplained() {
        TestCluster cluster = Mode.GUARDED_PASS.cluster();
        cluster.addNode("n1", K, ready("True", B));
        LogLines log = LogLines.of(MonitorPass.class);
        cluster.start();

        cluster.advanceTo("10M");

        assertThat(log.lines())
                .contains("Node n1 is now Unknown: not updated for 55s, deadline missed by 5s; Ready was True");
        assertThat(cluster.decisions)
                .filteredOn(d -> d.kind().equals("Unknown"))
                .singleElement()
                .satisfies(d -> {
                    assertThat(d.uid()).isEqualTo("n1-uid");
                    assertThat(d.at()).isEqualTo(B.plusSeconds(55));
                    assertThat(d.text()).isEqualTo("No heartbeat was seen for 55s; found by a monitor pass.");
                    assertThat(d.details().number("lateMillis")).contains(5000L);
                });
    }

    @Test
    void closedGateKeepsNoRecord() {
        reference.addNode("n1", K, ready("True", B));
        reference.start();

        reference.advanceTo("10M");

        assertThat(reference.decisions).isEmpty();
    }

    @Test
    void twoThousandSilentNodesAreMarkedInOnePass() {
        IntStream.range(0, 2_000).forEach(i -> reference.addNode("n" + i, K, ready("True", B)));
        reference.start();

        reference.advanceTo("56S");

        assertThat(IntStream.range(0, 2_000)
                        .filter(i -> reference.ready("n" + i).equals("Unknown")))
                .hasSize(2_000);
    }
}
