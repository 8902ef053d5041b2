package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.Evidence;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The evidence of a verdict explains it. */
@Tag("W20")
class VerdictFactsTest {
    private final TestCluster cluster = new TestCluster();

    @Test
    void verdictOnALeaseHasAllEvidence() {
        follow(cluster);
        renew(cluster, 90, 0);
        renew(cluster, 100, 250);

        cluster.advanceTo("151S");

        Decision verdict = only("Unknown");
        assertThat(verdict.text())
                .isEqualTo("no heartbeat for 50s, the grace period is 50s; last heartbeat by lease; it was Ready");
        JsonObject facts = verdict.details();
        assertThat(facts.fields().keySet()).containsAll(Evidence.NAMES);
        assertThat(facts.text("signal")).isEqualTo("lease");
        assertThat(facts.text("sentAt")).isEqualTo("2015-01-01T12:01:39.750000Z");
        assertThat(facts.text("arrivedAt")).isEqualTo("2015-01-01T12:01:40.000000Z");
        assertThat(facts.text("silence")).isEqualTo("50s");
        assertThat(facts.text("grace")).isEqualTo("50s");
        assertThat(facts.text("deadline")).isEqualTo("2015-01-01T12:02:30.000000Z");
        assertThat(facts.text("missedBy")).isEqualTo("0s");
        assertThat(facts.object("lag").toString())
                .isEqualTo("{\"node_to_controller\":\"250ms\",\"deadline_to_decision\":\"0s\"}");
        assertThat(facts.text("sight"))
                .isEqualTo("a canary proved, 0s after the deadline, that everything written until then was seen");
        assertThat(facts.text("liveLook"))
                .isEqualTo("lease renewed 2015-01-01T12:01:39.750000Z, status of 2015-01-01T12:00:00Z,"
                        + " 0s after the deadline");
        assertThat(facts.array("writes").toString())
                .isEqualTo("[{\"call\":\"PUT /api/v1/nodes/n1/status\",\"answer\":\"200\",\"took\":\"0s\"}]");
        assertThat(facts.has("givenBack")).isFalse();
    }

    @Test
    void verdictOnAStatusNamesItsHeartbeatAndNoLag() {
        cluster.addNode("n1", K, ready("False", B));
        cluster.start();
        cluster.advanceTo("20S");
        cluster.post("n1", ready("False", B.plusSeconds(19)));

        cluster.advanceTo("71S");

        Decision verdict = only("Unknown");
        assertThat(verdict.text())
                .isEqualTo("no heartbeat for 50s, the grace period is 50s; last heartbeat by status; it was not Ready");
        JsonObject facts = verdict.details();
        assertThat(facts.text("sentAt")).isEqualTo("2015-01-01T12:00:19Z");
        assertThat(facts.text("arrivedAt")).isEqualTo("2015-01-01T12:00:20.000000Z");
        assertThat(facts.object("lag").toString()).isEqualTo("{\"deadline_to_decision\":\"0s\"}");
        assertThat(facts.text("liveLook")).isEqualTo("no lease, status of 2015-01-01T12:00:19Z, 0s after the deadline");
    }

    @Test
    void verdictAfterBlindnessSaysWhatWasGivenBack() {
        follow(cluster);
        renew(cluster, 100, 0);
        cluster.advanceTo("105S");
        cluster.hung = true;
        cluster.advanceTo("165S");
        cluster.hung = false;

        cluster.advanceTo("212S");

        JsonObject facts = only("Unknown").details();
        assertThat(facts.text("silence")).isEqualTo("1m51s");
        assertThat(facts.text("givenBack")).isEqualTo("1m1s");
        assertThat(facts.text("deadline")).isEqualTo("2015-01-01T12:03:31.000000Z");
        assertThat(facts.text("missedBy")).isEqualTo("0s");
    }

    @Test
    void nodesAndSightShowTheTimeThatWasGivenBack() {
        StallWorld world = new StallWorld(40);
        world.node("before", 5_000, 60_000, 10_000);
        world.node("between", 5_000, 27_000, 40_000);
        world.node("after", 5_000, 20_000, 110_000);
        world.start();
        world.stall(StallWorld.Stall.API_SERVER, 20_000, 10_000);
        world.stall(StallWorld.Stall.API_SERVER, 70_000, 20_000);

        world.until(200_000);

        // then each stall is given back up to the first canary whose write took no longer than 3 s
        assertThat(List.of(
                        givenBack(world, "before"),
                        givenBack(world, "between"),
                        givenBack(world, "after"),
                        world.sight().number("givenBackMs").orElseThrow() + " ms in all"))
                .containsExactly("8s", "18s", "", "26000 ms in all");
    }

    private static String givenBack(StallWorld world, String node) {
        return world.decisions.stream()
                .filter(decision ->
                        decision.kind().equals("Unknown") && decision.node().equals(node))
                .findFirst()
                .orElseThrow()
                .details()
                .text("givenBack");
    }

    @Test
    void onlyWhatWasGivenBackSinceTheLastSignalIsNamed() {
        follow(cluster);
        cluster.advanceTo("20S");
        cluster.hung = true;
        cluster.advanceTo("50S");
        cluster.hung = false;
        cluster.advanceTo("59S");
        renew(cluster, 100, 0);
        cluster.hung = true;
        cluster.advanceTo("120S");
        cluster.hung = false;

        cluster.advanceTo("175S");

        assertThat(only("Unknown").details().text("givenBack")).isEqualTo("21s");
    }

    @Test
    void renewalThatTookNoLongerThanTheQuickestHasALagOfZero() {
        follow(cluster);
        renew(cluster, 100, 0);

        cluster.advanceTo("151S");

        assertThat(only("Unknown").details().object("lag").text("node_to_controller"))
                .isEqualTo("0s");
    }

    @Test
    void verdictByAListSaysWhatStoodInForTheWatch() {
        follow(cluster);
        renew(cluster, 20, 0);
        cluster.leaseWatchFrozen = true;

        cluster.advanceTo("90S");

        assertThat(only("Unknown").details().text("sight"))
                .isEqualTo("the watch was too late; instead a list of the leases showed a canary that had been"
                        + " written in time, 8s after the deadline, so the stricter rule for live reads was used");
    }

    @Test
    void everyAnswerOfTheApiIsKept() {
        follow(cluster);
        renew(cluster, 100, 0);
        boolean[] refused = {false};
        cluster.fault = call -> {
            if (!call.method().equals("PUT") || refused[0]) {
                return Optional.empty();
            }
            refused[0] = true;
            return Optional.of(TestCluster.internalError());
        };

        cluster.advanceTo("151S");

        assertThat(only("Unknown").details().array("writes").objects())
                .extracting(write -> write.text("call") + " " + write.text("answer"))
                .satisfiesExactly(
                        first -> assertThat(first)
                                .startsWith("PUT /api/v1/nodes/n1/status ")
                                .contains("etcdserver: request timed out"),
                        second -> assertThat(second).isEqualTo("PUT /api/v1/nodes/n1/status 200"));
    }

    @Test
    void nothingIsRecordedWithTheGateClosed() {
        TestCluster silent = new TestCluster(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.EXPLAIN_VERDICTS)));
        follow(silent);
        renew(silent, 100, 0);

        silent.advanceTo("151S");

        assertThat(silent.ready("n1")).isEqualTo("Unknown");
        assertThat(silent.decisions).noneMatch(decision -> decision.node().equals("n1"));
    }

    @Test
    void unguardedVerdictSaysThatSightWasNotProved() {
        TestCluster unguarded =
                new TestCluster(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.OBSERVER_GUARD)));
        follow(unguarded);
        unguarded.advanceTo("51S");

        assertThat(unguarded.decisions.stream()
                        .filter(decision -> decision.kind().equals("Unknown"))
                        .map(decision -> decision.details().text("sight")))
                .containsExactly("not proved: the gate ObserverGuard is disabled");
    }

    private static void follow(TestCluster cluster) {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();
    }

    /** Renewals each 10 s, the last one at {@code end} and dated that much before. */
    private static void renew(TestCluster cluster, int end, int lagMillis) {
        for (long second = cluster.time.elapsed().toSeconds() / 10 * 10 + 10; second <= end; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second).minusMillis(second == end ? lagMillis : 0));
        }
        cluster.advance(Duration.ofMillis(1));
    }

    private Decision only(String kind) {
        return cluster.decisions.stream()
                .filter(decision -> decision.kind().equals(kind))
                .reduce((one, other) -> {
                    throw new IllegalStateException("two of " + kind);
                })
                .orElseThrow();
    }
}
