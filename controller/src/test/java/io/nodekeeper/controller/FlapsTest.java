package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Taint;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import io.nodekeeper.controller.flaps.FlapConditions;
import io.nodekeeper.controller.flaps.Flaps;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A node that stops being Ready for the third time within minutes keeps its taints until it is stable. It stops at 60
 * s, 180 s and 300 s and is Ready again 30 s later each time: 2628 points at the third time, which decay to 750 in
 * 1085.5 s.
 */
@Tag("W8")
@Tag("L81")
class FlapsTest {
    private static final List<String> NOT_READY =
            List.of("node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute");
    private static final String DAMPED = "Ready was lost 3 times; flap penalty 2628 at 2015-01-01T12:05:00Z;"
            + " taints are kept until 2015-01-01T12:23:05Z, longer if it is lost again";

    private final TestCluster cluster = new TestCluster();

    @Test
    void thirdFallDampsTheNode() {
        flapThreeTimes(cluster);

        assertThat(cluster.ready("n1")).isEqualTo("True");
        assertThat(cluster.taints("n1")).containsExactlyInAnyOrderElementsOf(NOT_READY);
        assertThat(flapping(cluster)).isEqualTo("True FlapDamped 2015-01-01T12:05:00Z " + DAMPED);
        assertThat(cluster.events("FlapDamped")).containsExactly("Warning FlapDamped Node n1-uid: " + DAMPED);
        assertThat(cluster.decisions("FlapDamped")).containsExactly("2015-01-01T12:05:00Z n1: " + DAMPED);
        assertThat(cluster.metric("nodekeeper_node_flaps_total")).isEqualTo("3.0");
        assertThat(cluster.metric("nodekeeper_damped_nodes")).isEqualTo("1.0");
        assertThat(cluster.facts("n1").number("fellFromReady")).contains(3L);
    }

    @Test
    void twoFallsDoNotDampANode() {
        begin(cluster);
        fall(cluster, 60);
        fall(cluster, 180);

        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(flapping(cluster)).isEqualTo("none");
        assertThat(cluster.metric("nodekeeper_node_flaps_total")).isEqualTo("2.0");
        assertThat(cluster.metric("nodekeeper_damped_nodes")).isEqualTo("0.0");
    }

    @Test
    void clockOfEvictionsIsNotRestartedWhileTheNodeIsDamped() {
        flapThreeTimes(cluster);
        liveUntil(cluster, 400);

        fallAt(cluster, 410);
        assertThat(noExecuteSince(cluster)).contains("2015-01-01T12:05:00Z");
        riseAt(cluster, 440);

        assertThat(noExecuteSince(cluster)).contains("2015-01-01T12:05:00Z");
        assertThat(cluster.taints("n1")).containsExactlyInAnyOrderElementsOf(NOT_READY);
        assertThat(cluster.events("FlapDamped")).hasSize(1);
        assertThat(flapping(cluster)).startsWith("True FlapDamped 2015-01-01T12:05:00Z Ready was lost 4 times;");
    }

    @Test
    void dampingEndsWhenThePenaltyHasDecayed() {
        flapThreeTimes(cluster);

        liveUntil(cluster, 1_380);
        cluster.advanceTo("1385.5S");
        assertThat(cluster.taints("n1")).containsExactlyInAnyOrderElementsOf(NOT_READY);
        assertThat(flapping(cluster)).startsWith("True ");

        cluster.advanceTo("1385.6S");
        String text = "Ready was not lost again for 18m5s; taints follow it as usual";
        assertThat(cluster.taints("n1")).isEmpty();
        cluster.advanceTo("1386.6S");
        assertThat(flapping(cluster)).isEqualTo("False FlapEnded 2015-01-01T12:23:05Z " + text);
        assertThat(cluster.events("FlapEnded")).containsExactly("Normal FlapEnded Node n1-uid: " + text);
        assertThat(cluster.decisions("FlapEnded")).singleElement().asString().endsWith(" n1: " + text);
        assertThat(cluster.metric("nodekeeper_damped_nodes")).isEqualTo("0.0");
    }

    @Test
    void silenceOfADampedNodeIsNoticedInTime() {
        flapThreeTimes(cluster);
        liveUntil(cluster, 400);

        // From here on only the others live.
        for (int second = 410; second <= 450; second += 10) {
            cluster.advanceTo(second + "S");
            renew(cluster, second, "other1", "other2", "other3");
        }
        assertThat(cluster.ready("n1")).isEqualTo("True");
        cluster.advanceTo("450.010S");

        // At once, though the condition is about to be written as well.
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.taints("n1"))
                .containsExactlyInAnyOrder(
                        "node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute");
        assertThat(noExecuteSince(cluster)).contains("2015-01-01T12:05:00Z");
        assertThat(cluster.metric("nodekeeper_node_flaps_total")).isEqualTo("4.0");
    }

    @Test
    void anotherControllerContinuesTheDamping() {
        flapThreeTimes(cluster);
        liveUntil(cluster, 600);
        cluster.controller.stop();
        cluster.advance(Duration.ofSeconds(5));

        new Controller(CONFIG, cluster.ports).start();
        liveUntil(cluster, 1_380);
        cluster.advanceTo("1385S");
        assertThat(cluster.taints("n1")).containsExactlyInAnyOrderElementsOf(NOT_READY);
        assertThat(noExecuteSince(cluster)).contains("2015-01-01T12:05:00Z");
        assertThat(cluster.metric("nodekeeper_damped_nodes")).isEqualTo("1.0");

        cluster.advanceTo("1387S");
        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(flapping(cluster)).startsWith("False FlapEnded 2015-01-01T12:23:05Z ");
        assertThat(cluster.events("FlapDamped")).hasSize(1);
        assertThat(cluster.events("FlapEnded")).hasSize(1);
        assertThat(cluster.metric("nodekeeper_damped_nodes")).isEqualTo("0.0");
    }

    @Test
    void successorEndsADampingWhoseTimeHasPassed() {
        flapThreeTimes(cluster);
        cluster.controller.stop();
        cluster.advanceTo("2H");

        new Controller(CONFIG, cluster.ports).start();
        cluster.advance(Duration.ofSeconds(2));

        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(flapping(cluster)).startsWith("False FlapEnded 2015-01-01T14:00:00Z ");
        assertThat(cluster.metric("nodekeeper_damped_nodes")).isEqualTo("0.0");
    }

    @Test
    void recreatedNodeStartsClean() {
        flapThreeTimes(cluster);
        cluster.deleteNode("n1");
        cluster.advance(Duration.ofMillis(10));
        assertThat(cluster.metric("nodekeeper_damped_nodes")).isEqualTo("0.0");

        cluster.addNode("n1", "n1-new", B.plusSeconds(331), ready("True", B.plusSeconds(331)));
        cluster.advance(Duration.ofMillis(10));
        fallAt(cluster, 340);
        assertThat(cluster.taints("n1")).contains("node.kubernetes.io/not-ready:NoSchedule");
        riseAt(cluster, 350);

        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(flapping(cluster)).isEqualTo("none");
        liveUntil(cluster, 1_500);
        assertThat(cluster.events("FlapEnded")).isEmpty();
    }

    @Test
    void conditionThatCannotBeWrittenIsWrittenLater() {
        begin(cluster);
        fall(cluster, 60);
        fall(cluster, 180);
        cluster.fault = call -> call.method().equals("PATCH") && call.target().endsWith("/nodes/n1/status")
                ? Optional.of(TestCluster.internalError())
                : Optional.empty();
        LogLines log = LogLines.of(Flaps.class);
        LogLines writes = LogLines.of(FlapConditions.class);
        fall(cluster, 300);
        assertThat(flapping(cluster)).isEqualTo("none");
        assertThat(cluster.taints("n1")).containsExactlyInAnyOrderElementsOf(NOT_READY);
        assertThat(log.lines()).startsWith("Node n1 flaps: " + DAMPED);
        assertThat(writes.lines())
                .anyMatch(line -> line.startsWith("Node n1: writing condition NodeFlapping failed: ")
                        && line.contains("etcdserver: request timed out"));

        cluster.fault = call -> Optional.empty();
        liveUntil(cluster, 370);

        assertThat(flapping(cluster)).isEqualTo("True FlapDamped 2015-01-01T12:05:00Z " + DAMPED);
        long sent = cluster.calls("PATCH", "/nodes/n1/status");
        liveUntil(cluster, 600);
        assertThat(cluster.calls("PATCH", "/nodes/n1/status")).isEqualTo(sent);
    }

    @Test
    void conditionOfANodeThatIsGoneIsNotWrittenToItsSuccessor() {
        begin(cluster);
        fall(cluster, 60);
        fall(cluster, 180);
        cluster.fault = call -> {
            if (call.method().equals("PATCH") && call.target().endsWith("/nodes/n1/status")) {
                // The watch delivers it only after the write.
                cluster.fault = other -> Optional.empty();
                cluster.deleteNode("n1");
                cluster.addNode("n1", "n1-new", B.plusSeconds(300), ready("True", B.plusSeconds(300)));
            }
            return Optional.empty();
        };
        fallAt(cluster, 300);
        liveUntil(cluster, 1_500);

        assertThat(cluster.node("n1").uid()).isEqualTo("n1-new");
        assertThat(flapping(cluster)).isEqualTo("none");
        assertThat(cluster.taints("n1")).isEmpty();
    }

    @Test
    void taintsFollowImmediatelyIfTheGateIsDisabled() {
        TestCluster undamped = new TestCluster(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.FLAP_DAMPING)));

        flapThreeTimes(undamped);

        assertThat(undamped.taints("n1")).isEmpty();
        assertThat(flapping(undamped)).isEqualTo("none");
        assertThat(undamped.events("FlapDamped")).isEmpty();
        assertThat(undamped.metric("nodekeeper_node_flaps_total")).isEqualTo("3.0");
    }

    @Test
    void controllerWithoutTheGateEndsTheDampingOfItsPredecessor() {
        flapThreeTimes(cluster);
        cluster.controller.stop();
        cluster.advance(Duration.ofSeconds(5));

        new Controller(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.FLAP_DAMPING)), cluster.ports).start();
        cluster.advance(Duration.ofSeconds(2));

        String text = "flap damping is switched off; taints follow Ready as usual";
        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(flapping(cluster)).isEqualTo("False FlapEnded 2015-01-01T12:05:36Z " + text);
        assertThat(cluster.events("FlapEnded")).containsExactly("Normal FlapEnded Node n1-uid: " + text);
        // and once only
        long writes = cluster.calls("PATCH", "/nodes/n1/status");
        liveUntil(cluster, 600);
        assertThat(cluster.calls("PATCH", "/nodes/n1/status")).isEqualTo(writes);
    }

    @Test
    void passesDampAsWell() {
        TestCluster passing =
                new TestCluster(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.WATCH_DRIVEN_DEADLINES)));

        flapThreeTimes(passing);

        assertThat(passing.taints("n1")).containsExactlyInAnyOrderElementsOf(NOT_READY);
        assertThat(passing.events("FlapDamped")).containsExactly("Warning FlapDamped Node n1-uid: " + DAMPED);
        liveUntil(passing, 1_390);
        assertThat(passing.taints("n1")).isEmpty();
        assertThat(flapping(passing)).startsWith("False FlapEnded ");
    }

    /** Until 331 s. */
    private static void flapThreeTimes(TestCluster cluster) {
        begin(cluster);
        fall(cluster, 60);
        fall(cluster, 180);
        fall(cluster, 300);
        cluster.advanceTo("331S");
    }

    /** One node that will flap and three that make its zone a healthy one. */
    private static void begin(TestCluster cluster) {
        for (String name : List.of("n1", "other1", "other2", "other3")) {
            cluster.addNode(name, K, ready("True", B));
            cluster.renew(name, B);
        }
        cluster.start();
    }

    private static void fall(TestCluster cluster, int second) {
        fallAt(cluster, second);
        riseAt(cluster, second + 30);
    }

    private static void fallAt(TestCluster cluster, int second) {
        liveUntil(cluster, second);
        cluster.post("n1", ready("False", B.plusSeconds(second)));
        cluster.advance(Duration.ofMillis(10));
    }

    private static void riseAt(TestCluster cluster, int second) {
        liveUntil(cluster, second);
        cluster.post("n1", ready("True", B.plusSeconds(second)));
        cluster.advance(Duration.ofMillis(10));
    }

    /** All renew their leases every 10 s until that second. */
    private static void liveUntil(TestCluster cluster, int end) {
        for (long second = cluster.time.elapsed().toSeconds() / 10 * 10 + 10; second <= end; second += 10) {
            cluster.advanceTo(second + "S");
            renew(cluster, second, "n1", "other1", "other2", "other3");
        }
    }

    private static void renew(TestCluster cluster, long second, String... names) {
        Stream.of(names).forEach(name -> cluster.renew(name, B.plusSeconds(second)));
    }

    /** {@code status reason transition message} of the condition. */
    private static String flapping(TestCluster cluster) {
        return cluster.node("n1")
                .condition("NodeFlapping")
                .map(c -> c.status() + " " + c.reason() + " " + c.json().text("lastTransitionTime") + " " + c.message())
                .orElse("none");
    }

    private static Optional<String> noExecuteSince(TestCluster cluster) {
        return cluster.node("n1").taints().stream()
                .filter(taint -> taint.effect().equals(Taint.NO_EXECUTE))
                .findFirst()
                .map(taint -> taint.json().text("timeAdded"));
    }
}
