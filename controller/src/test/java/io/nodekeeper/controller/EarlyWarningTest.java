package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.DetectorConfig;
import io.nodekeeper.controller.config.FeatureGates;
import io.nodekeeper.controller.observer.CanaryLease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Nodes that are later than usual are reported before their grace ends, without any other effect. */
class EarlyWarningTest {
    private static final String SUSPECTS = "nodekeeper_suspect_nodes";
    private static final String SUSPICIONS = "nodekeeper_suspicions_total";

    private final TestCluster cluster = new TestCluster();

    @Test
    void deadNodeIsSuspectLongBeforeItsVerdict() {
        follow(cluster, "n1");
        renewUntil(cluster, 100, "n1");

        cluster.advanceTo("117.5S");
        assertThat(cluster.events("Suspect")).isEmpty();

        cluster.advanceTo("117.510S");
        assertThat(cluster.events("Suspect"))
                .containsExactly("Warning Suspect Node n1-uid: Node n1 had no heartbeat for 17.5s, usually every 10s;"
                        + " the node becomes Unknown after 50s");
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("1.0");
        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("1.0");
        assertThat(cluster.facts("n1").bool("suspect")).isTrue();
        assertThat(cluster.decisions("Suspected"))
                .singleElement()
                .asString()
                .endsWith(" n1: no heartbeat for 17.5s, usually every 10s; the node becomes Unknown after 50s");

        cluster.advanceTo("150S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        assertThat(cluster.taints("n1")).isEmpty();

        cluster.advanceTo("150.010S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("0.0");
        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("1.0");
        assertThat(cluster.events("Suspect")).hasSize(1);
    }

    @Test
    void nodeThatComesBackInTimeIsNoLongerSuspect() {
        follow(cluster, "n1");
        renewUntil(cluster, 100, "n1");
        cluster.advanceTo("130S");
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("1.0");

        cluster.renew("n1", B.plusSeconds(130));
        cluster.advance(Duration.ofMillis(1));

        assertThat(cluster.metric(SUSPECTS)).isEqualTo("0.0");
        assertThat(cluster.facts("n1").bool("suspect")).isFalse();
        renewUntil(cluster, 600, "n1");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("1.0");
    }

    @Test
    void noNodeIsSuspectBecauseOfAStalledWatch() {
        follow(cluster, "alive", "dead");
        renewUntil(cluster, 100, "alive", "dead");
        cluster.advanceTo("105S");
        cluster.leaseWatchFrozen = true;
        // A list does not show it, either.
        cluster.fault =
                call -> call.target().contains("limit=") ? Optional.of(TestCluster.internalError()) : Optional.empty();
        cluster.hangs = call -> call.target().endsWith(CanaryLease.NAME);
        renewUntil(cluster, 160, "alive");
        cluster.advanceTo("165S");
        cluster.hangs = call -> false;
        cluster.leaseWatchFrozen = false;

        // What was not seen, from the canary of 105 s to that of 166 s, is given back to both.
        renewUntil(cluster, 170, "alive");
        cluster.advanceTo("178.5S");
        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("0.0");

        cluster.advanceTo("178.510S");
        assertThat(cluster.events("Suspect"))
                .containsExactly("Warning Suspect Node dead-uid: Node dead had no heartbeat for 17.5s,"
                        + " usually every 10s; the node becomes Unknown after 50s");
        renewUntil(cluster, 210, "alive");
        assertThat(cluster.ready("dead")).isEqualTo("True");
        renewUntil(cluster, 220, "alive");
        assertThat(cluster.ready("dead")).isEqualTo("Unknown");
        assertThat(cluster.ready("alive")).isEqualTo("True");
    }

    @Test
    void noNodeIsSuspectBecauseOfAFrozenServer() {
        follow(cluster, "n1");
        renewUntil(cluster, 100, "n1");
        cluster.advanceTo("105S");
        cluster.hung = true;
        cluster.advanceTo("165S");
        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("0.0");
        cluster.hung = false;

        renewUntil(cluster, 300, "n1");

        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("0.0");
        assertThat(cluster.events("ObserverBlind")).hasSize(1);
    }

    @Test
    void nodeWithAStatusIsNotSuspectIfItsLeaseIsNotRenewed() {
        follow(cluster, "n1");
        renewUntil(cluster, 100, "n1");

        for (int second = 110; second <= 300; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.post("n1", ready("True", B.plusSeconds(second)));
        }

        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("0.0");
        cluster.advanceTo("317.510S");
        assertThat(cluster.events("Suspect")).hasSize(1);
    }

    @Test
    void returnByStatusAfterBlindnessIsNoCauseForSuspicion() {
        follow(cluster, "n1");
        renewUntil(cluster, 100, "n1");
        cluster.down = true;
        cluster.advanceTo("110S");
        cluster.down = false;
        cluster.advanceTo("200S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");

        cluster.post("n1", ready("True", B.plusSeconds(200)));
        cluster.advanceTo("201S");
        renewUntil(cluster, 400, "n1");

        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("1.0");
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("0.0");
        assertThat(cluster.ready("n1")).isEqualTo("True");
    }

    @Test
    void deletedNodeIsNoLongerSuspect() {
        follow(cluster, "n1");
        renewUntil(cluster, 100, "n1");
        cluster.advanceTo("120S");
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("1.0");

        cluster.deleteNode("n1");
        cluster.advanceTo("121S");

        assertThat(cluster.metric(SUSPECTS)).isEqualTo("0.0");
    }

    @Test
    void nodeThatAnotherControllerDeclaredUnknownIsNoLongerSuspect() {
        follow(cluster, "n1");
        renewUntil(cluster, 100, "n1");
        cluster.advanceTo("130S");
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("1.0");

        cluster.post("n1", ready("Unknown", B));
        cluster.advanceTo("134S");

        assertThat(cluster.metric(SUSPECTS)).isEqualTo("0.0");
        cluster.advanceTo("200S");
        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("1.0");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
    }

    @Test
    void nodeThatIsNotKnownWellYetIsNeverSuspect() {
        follow(cluster, "n1");
        renewUntil(cluster, 80, "n1");

        cluster.advanceTo("130S");
        assertThat(cluster.metric(SUSPICIONS)).isEqualTo("0.0");

        cluster.advanceTo("130.010S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void nothingIsSaidWithTheGateClosed() {
        TestCluster quiet = new TestCluster(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.EARLY_WARNING)));
        follow(quiet, "n1");
        renewUntil(quiet, 100, "n1");

        quiet.advanceTo("150.010S");

        assertThat(quiet.ready("n1")).isEqualTo("Unknown");
        assertThat(quiet.events("Suspect")).isEmpty();
        assertThat(quiet.decisions("Suspected")).isEmpty();
        assertThat(quiet.metric(SUSPICIONS)).isEqualTo("0.0");
    }

    @Test
    void adaptiveDetectorJudgesByTheNodesOwnRhythm() {
        TestCluster adaptive = adaptive(20, 100);
        follow(adaptive, "quick", "slow");
        for (int second = 10; second <= 400; second += 10) {
            adaptive.advanceTo(second + "S");
            adaptive.renew("quick", B.plusSeconds(second));
            if (second % 20 == 0) {
                adaptive.renew("slow", B.plusSeconds(second));
            }
        }

        adaptive.advanceTo("435S");
        assertThat(adaptive.events("Suspect"))
                .contains("Warning Suspect Node quick-uid: Node quick had no heartbeat for 17.5s, usually every 10s;"
                        + " the node becomes Unknown after 35s");
        assertThat(adaptive.ready("quick")).isEqualTo("True");
        adaptive.advanceTo("435.010S");
        assertThat(adaptive.ready("quick")).isEqualTo("Unknown");

        adaptive.advanceTo("470S");
        assertThat(adaptive.ready("slow")).isEqualTo("True");
        adaptive.advanceTo("470.010S");
        assertThat(adaptive.ready("slow")).isEqualTo("Unknown");
        assertThat(adaptive.metric(SUSPECTS)).isEqualTo("0.0");
    }

    @Test
    void adaptiveGraceKeepsItsBounds() {
        TestCluster adaptive = adaptive(45, 100);
        follow(adaptive, "quick", "slow", "new");
        for (int second = 10; second <= 400; second += 10) {
            adaptive.advanceTo(second + "S");
            adaptive.renew("quick", B.plusSeconds(second));
            if (second % 40 == 0) {
                adaptive.renew("slow", B.plusSeconds(second));
            }
            if (second >= 350) {
                adaptive.renew("new", B.plusSeconds(second));
            }
            if (second < 350) {
                adaptive.post("new", ready("True", B));
            }
        }

        adaptive.advanceTo("445S");
        assertThat(readiness(adaptive, "quick", "slow")).containsExactly("True", "True");
        adaptive.advanceTo("445.010S");
        assertThat(readiness(adaptive, "quick", "slow")).containsExactly("Unknown", "True");
        adaptive.advanceTo("500S");
        assertThat(adaptive.ready("slow")).isEqualTo("True");
        adaptive.advanceTo("500.010S");
        assertThat(adaptive.ready("slow")).isEqualTo("Unknown");
    }

    @Test
    void manyNodesAreCountedOneByOne() {
        String[] names = IntStream.range(0, 500).mapToObj(i -> "n" + i).toArray(String[]::new);
        follow(cluster, names);
        renewUntil(cluster, 100, names);

        cluster.advanceTo("118S");
        assertThat(cluster.events("Suspect")).hasSize(500);
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("500.0");

        for (String name : names) {
            if (name.endsWith("0")) {
                cluster.renew(name, B.plusSeconds(118));
            }
        }
        cluster.advanceTo("119S");
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("450.0");

        cluster.advanceTo("150.500S");
        assertThat(Stream.of(names).filter(name -> cluster.ready(name).equals("Unknown")))
                .hasSize(450);
        // The 50 that came back and then died are suspect in their turn.
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("50.0");
        cluster.advanceTo("170S");
        assertThat(cluster.metric(SUSPECTS)).isEqualTo("0.0");
    }

    private static TestCluster adaptive(int min, int max) {
        return new TestCluster(CONFIG.with(
                new DetectorConfig(DetectorConfig.Kind.ADAPTIVE, Duration.ofSeconds(min), Duration.ofSeconds(max))));
    }

    private static void follow(TestCluster cluster, String... names) {
        for (String name : names) {
            cluster.addNode(name, K, ready("True", B));
            cluster.renew(name, B);
        }
        cluster.start();
    }

    /** These renew their leases every 10 s until that second. */
    private static void renewUntil(TestCluster cluster, int end, String... names) {
        long last = cluster.time.elapsed().toSeconds();
        for (long second = last - last % 10 + 10; second <= end; second += 10) {
            cluster.advanceTo(second + "S");
            for (String name : names) {
                cluster.renew(name, B.plusSeconds(second));
            }
        }
        cluster.advance(Duration.ofMillis(1));
    }

    private static List<String> readiness(TestCluster cluster, String... names) {
        return Stream.of(names).map(cluster::ready).toList();
    }
}
