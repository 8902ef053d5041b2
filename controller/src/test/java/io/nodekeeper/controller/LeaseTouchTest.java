package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Only writes of the holder of a lease keep its node alive. */
class LeaseTouchTest {
    /** What other clients can do to a lease without a renewal. */
    enum Touch {
        LABELS(lease -> metadata(lease, "labels", JsonObject.EMPTY.with("team", "a"))),
        ANNOTATIONS(lease -> metadata(lease, "annotations", JsonObject.EMPTY.with("note", "b"))),
        OWNERS(lease -> lease.update("metadata", metadata -> metadata.with("ownerReferences", lease.array("none")))),
        DURATION(lease -> lease.update(
                "spec", spec -> spec.toBuilder().put("leaseDurationSeconds", 60).build())),
        NOTHING_BUT_THE_VERSION(UnaryOperator.identity()),
        RENEW_TIME_REMOVED(lease -> lease.update("spec", spec -> spec.without("renewTime"))),
        ANOTHER_HOLDER(lease -> lease.update("spec", spec -> spec.with("holderIdentity", "somebody")));

        private final UnaryOperator<JsonObject> change;

        Touch(UnaryOperator<JsonObject> change) {
            this.change = change;
        }

        private static JsonObject metadata(JsonObject lease, String field, JsonObject value) {
            return lease.update("metadata", metadata -> metadata.with(field, value));
        }
    }

    /** Which way the states of the lease take. */
    enum Path {
        /** As bytes of the watch, which the scanner reads. */
        BYTES(line -> line),
        /** As an event of the watch that only the full parser understands. */
        PARSER(line -> line.replace("\"name\":\"n1\"", "\"name\":\"n\\u0031\"")),
        /** The watch delivers nothing: only live reads see it. */
        LIVE_READ(line -> line);

        private final UnaryOperator<String> wire;

        Path(UnaryOperator<String> wire) {
            this.wire = wire;
        }
    }

    private static TestCluster cluster(Path path) {
        TestCluster cluster = new TestCluster();
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B, "n1");
        cluster.wire = line -> line.contains("kube-node-lease") ? path.wire.apply(line) : line;
        cluster.renewalsUntold = path == Path.LIVE_READ;
        cluster.start();
        return cluster;
    }

    @ParameterizedTest
    @EnumSource
    @Tag("L14")
    void leaseThatOthersTouchDoesNotKeepADeadNodeAlive(Touch touch) {
        for (Path path : Path.values()) {
            TestCluster cluster = cluster(path);

            // when a client touches the lease of a node that died at B, each second
            for (int second = 1; second < 120; second++) {
                cluster.advanceTo(second + "S");
                cluster.changeLease("n1", touch.change);
            }

            assertThat(cluster.ready("n1")).as("%s by %s", touch, path).isEqualTo("Unknown");
            assertThat(cluster.node("n1").ready().orElseThrow().json().text("lastTransitionTime"))
                    .as("%s by %s", touch, path)
                    .isEqualTo("2015-01-01T12:00:50Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("L14")
    void leaseThatOthersTouchDoesNotKeepADeadNodeAliveInAMonitorPass(Touch touch) {
        FeatureGates gates = FeatureGates.ALL.without(ControllerFeature.WATCH_DRIVEN_DEADLINES);
        TestCluster cluster = new TestCluster(TestCluster.CONFIG.with(gates));
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B, "n1");
        cluster.start();

        for (int second = 1; second < 120; second++) {
            cluster.advanceTo(second + "S");
            cluster.changeLease("n1", touch.change);
        }

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    /** What the clock of a node shows, given the seconds since B. */
    enum HolderClock {
        RIGHT(second -> B.plusSeconds(second)),
        AN_HOUR_BACK_AT_100_S(second -> B.plusSeconds(second < 100 ? second : second - 3600)),
        A_YEAR_AHEAD_AT_100_S(second -> B.plusSeconds(second < 100 ? second : second + 31_536_000)),
        BACK_AND_FORTH(second -> B.plusSeconds(second / 10 % 2 == 0 ? second : second - 7_200)),
        BACKWARDS(second -> B.minusSeconds(second)),
        // 1 ms in 10 s: a clock that nearly stands still
        NEARLY_STANDING(second -> B.plusMillis(second / 10)),
        // set back every 100 s, so that each renewTime comes again later
        REPEATING(second -> B.plusSeconds(second % 100)),
        // set back by exactly one period, once: one renewTime comes twice in a row
        BACK_BY_ONE_PERIOD(second -> B.plusSeconds(second < 100 ? second : second - 10));

        private final LongFunction<Instant> time;

        HolderClock(LongFunction<Instant> time) {
            this.time = time;
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("L13")
    @Tag("L14")
    void jumpsOfTheHoldersClockAreHarmless(HolderClock clock) {
        for (Path path : Path.values()) {
            TestCluster cluster = cluster(path);

            for (int second = 10; second <= 600; second += 10) {
                cluster.advanceTo(second + "S");
                cluster.renew("n1", clock.time.apply(second), "n1");
            }

            assertThat(cluster.calls("PUT", "/nodes/n1/status"))
                    .as("verdicts with %s by %s", clock, path)
                    .isZero();
        }
    }

    @Test
    @Tag("L14")
    void leaseThatIsRestoredWithItsOldTimeIsNoHeartbeat() {
        TestCluster cluster = cluster(Path.BYTES);
        cluster.advanceTo("40S");

        cluster.deleteLease("n1");
        cluster.renew("n1", B, "n1");
        cluster.advanceTo("50.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    @Tag("L14")
    void lastRenewalAfterAForeignOneDoesNotCountAgain() {
        TestCluster cluster = cluster(Path.BYTES);
        cluster.advanceTo("20S");
        cluster.renew("n1", B.plusSeconds(20), "somebody");
        cluster.advanceTo("40S");

        cluster.renew("n1", B, "n1");
        cluster.advanceTo("50.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    @Tag("L14")
    void oldRenewalsOfALaggingServerDoNotKeepADeadNodeAlive() {
        TestCluster cluster = cluster(Path.BYTES);
        for (int second = 10; second <= 50; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second), "n1");
        }
        // given that the node dies, and each list comes from a server that has an older state
        JsonObject old =
                cluster.lease("n1").update("spec", spec -> spec.with("renewTime", "2015-01-01T12:00:40.000000Z"));
        cluster.advanceTo("80S");
        cluster.restoreLease("n1", old.update("metadata", metadata -> metadata.with("resourceVersion", "50")));
        cluster.loseHistory();
        cluster.advanceTo("110S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.node("n1").ready().orElseThrow().lastTransitionTime())
                .hasValueSatisfying(at -> assertThat(Duration.between(B, at)).isEqualTo(Duration.ofSeconds(100)));
    }
}
