package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.controller.lags.HeartbeatLags;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.ObserverGuard;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages and metrics show delays of renewals and wrong clocks, and no verdict depends on them. */
@Tag("W12")
class LagsTest {
    private static final String SKEW = "nodekeeper_node_clock_skew_seconds_max";

    private final TestCluster cluster = new TestCluster();

    @Test
    @Tag("W16")
    void lagsAreWhatRenewalsTookBeyondTheQuickest() {
        follow("n1");
        // The first three make known what is quick for this node.
        int[] delays = {5, 5, 5, 105, 205, 305, 405, 5, 5, 5};
        for (int i = 1; i <= delays.length; i++) {
            cluster.advanceTo(10 * i + "S");
            cluster.renew("n1", B.plusSeconds(10L * i).minusMillis(delays[i - 1]));
        }

        JsonObject lag = lag();

        assertThat(lag.object("gaps").toString())
                .isEqualTo("{\"count\":10,\"p50Millis\":10000,\"p99Millis\":10000,\"p999Millis\":10000,"
                        + "\"maxMillis\":10000,\"worstNode\":\"n1\"}");
        // Seven lags: 100, 200, 300 and 400 ms and thrice nothing; percentiles are at most 3 % too high.
        assertThat(lag.object("lags").toString())
                .isEqualTo("{\"count\":7,\"p50Millis\":102,\"p99Millis\":400,\"p999Millis\":400,"
                        + "\"maxMillis\":400,\"worstNode\":\"n1\"}");
        assertThat(lag.number("graceMillis")).contains(50_000L);
        assertThat(lag.text("advice"))
                .isEqualTo("observed p99.9 gap between heartbeats 10s (10 gaps, longest 10s of node n1), grace 50s:"
                        + " 5.0 times; renewals took up to 400ms longer than usual (p99.9, longest 400ms"
                        + " of node n1); fewer than 1000 gaps are too few for advice");
        assertThat(cluster.metric("nodekeeper_heartbeat_lag_seconds_count{hop=\"node_to_controller\"}"))
                .isEqualTo("7");
        assertThat(cluster.facts("n1").text("lastRenewalLag")).isEqualTo("0s");
    }

    @Test
    void lagOfTheLastRenewalIsShown() {
        follow("n1");
        renew("n1", 10, 100, 0);
        cluster.advanceTo("110S");
        cluster.renew("n1", B.plusSeconds(110).minusMillis(1_500));

        assertThat(cluster.facts("n1").text("lastRenewalLag")).isEqualTo("1.5s");
        assertThat(cluster.facts("n1").text("clock")).isEqualTo("clock agrees within 1s");
    }

    @ParameterizedTest
    @ValueSource(longs = {9_223_372_036L, 9_223_372_037L, 10_000_000_000L})
    void renewalThatANodeDatesCenturiesBackIsALagOfADay(long seconds) {
        follow("n1");
        renew("n1", 10, 100, 0);
        cluster.advanceTo("110S");
        cluster.renew("n1", B.plusSeconds(110).minusSeconds(seconds).minusMillis(852));

        assertThat(lag().object("lags").number("maxMillis")).contains(86_400_000L);
        assertThat(lag().text("advice")).contains("longest 24h0m0s of node n1");
        assertThat(cluster.facts("n1").text("lastRenewalLag")).isEqualTo("24h0m0s");
    }

    @Test
    void adviceForgetsWhatIsOld() {
        follow("n1");
        renew("n1", 10, 600, 0);
        assertThat(lag().object("gaps").number("count")).contains(60L);

        cluster.advanceTo("640S");
        renew("n1", 640, 1_200, 0);
        assertThat(lag().object("gaps").number("maxMillis")).contains(40_000L);
        renew("n1", 1_210, 1_900, 0);

        assertThat(lag().object("gaps").number("maxMillis")).contains(10_000L);
    }

    @Test
    void outageThatAnotherControllerDeclaredIsNoGap() {
        follow("n1");
        renew("n1", 10, 100, 0);
        cluster.advanceTo("105S");
        cluster.post("n1", ready("Unknown", B));

        // when the node returns after three hours
        renew("n1", 10_900, 10_900, 0);
        cluster.post("n1", ready("True", B.plusSeconds(10_900)));
        renew("n1", 10_910, 10_910, 0);

        assertThat(lag().object("gaps").number("count")).contains(1L);
        assertThat(lag().object("gaps").number("maxMillis")).contains(10_000L);
    }

    @Test
    @Tag("L13")
    void clockThatIsAheadIsShownAndDoesNotAffectVerdicts() {
        follow("n1");

        renew("n1", 10, 300, 7_200);

        assertThat(cluster.facts("n1").text("clock")).isEqualTo("clock ahead by 2h0m0s to 2h0m1s");
        cluster.advanceTo("331S");
        assertThat(cluster.metric(SKEW)).isEqualTo("7200.0");
        assertThat(cluster.decisions("ClockSet")).isEmpty();
        cluster.advanceTo("350S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        cluster.advanceTo("350.010S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void clockThatIsSetAheadIsReportedImmediately() {
        follow("n1");
        renew("n1", 10, 100, 0);
        renew("n1", 110, 110, 7_200);

        String text = "its clock was set ahead by 2h0m0s, which does not affect verdicts";
        assertThat(cluster.decisions("ClockSet")).containsExactly("2015-01-01T12:01:50Z n1: " + text);
        assertThat(cluster.facts("n1").has("lastRenewalLag")).isFalse();
        renew("n1", 120, 600, 7_200);
        assertThat(cluster.facts("n1").text("clock")).isEqualTo("clock ahead by 2h0m0s to 2h0m1s");
        assertThat(cluster.decisions("ClockSet")).hasSize(1);
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
    }

    /** More than fits into nanoseconds. */
    @Test
    void clockThatIsSetAheadByCenturiesIsReportedAsThreeOfThem() {
        follow("n1");
        renew("n1", 10, 100, 0);
        cluster.advanceTo("110S");

        cluster.renew("n1", B.plusSeconds(110).plusSeconds(10_000_000_000L));
        cluster.advance(Duration.ZERO);

        assertThat(cluster.decisions("ClockSet"))
                .containsExactly("2015-01-01T12:01:50Z n1: its clock was set ahead by 2562047h47m16.854s,"
                        + " which does not affect verdicts");
    }

    @Test
    void ownClockThatIsSetBackByCenturiesIsReportedAsThreeOfThem() {
        LogLines log = LogLines.of(HeartbeatLags.class);
        HeartbeatLags lags =
                new HeartbeatLags(TestCluster.CONFIG, cluster.loop, ObserverGuard.off(), new ControllerMetrics(), 0);

        cluster.loop.skewWallClock(Duration.ofDays(-120_000));
        lags.tend(List.of(), 0);

        assertThat(log.lines())
                .containsExactly("this machine's clock was set back by 2562047h47m16.854s; ages do not depend on it");
    }

    @Test
    @Tag("L14")
    void clockThatIsSetBackIsReportedAfterThreeRenewals() {
        follow("n1");
        renew("n1", 10, 100, 0);
        renew("n1", 110, 120, -7_200);
        assertThat(cluster.decisions("ClockSet")).isEmpty();

        renew("n1", 130, 600, -7_200);

        assertThat(cluster.decisions("ClockSet"))
                .containsExactly("2015-01-01T12:02:10Z n1: its clock was set back by 2h0m0s,"
                        + " which does not affect verdicts");
        // What is known is that the renewals took no longer than a second.
        assertThat(cluster.facts("n1").text("clock")).isEqualTo("clock behind by 1h59m59s to 2h0m0s");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
        assertThat(cluster.metric("nodekeeper_suspicions_total")).isEqualTo("0.0");
    }

    @Test
    void clockThatIsSetWithEachRenewalIsReportedOnceAMinute() {
        follow("n1");
        renew("n1", 10, 100, 0);

        // when the node's clock is a further hour ahead each 10 s
        for (int i = 1; i <= 13; i++) {
            renew("n1", 100 + 10 * i, 100 + 10 * i, 3_600 * i);
        }

        assertThat(cluster.decisions("ClockSet"))
                .containsExactly(
                        "2015-01-01T12:01:50Z n1: its clock was set ahead by 1h0m0s, which does not affect verdicts",
                        "2015-01-01T12:02:50Z n1: its clock was set 6 times, the last time ahead by 1h0m0s,"
                                + " which does not affect verdicts",
                        "2015-01-01T12:03:50Z n1: its clock was set 6 times, the last time ahead by 1h0m0s,"
                                + " which does not affect verdicts");
    }

    @Test
    void ownClockThatIsSetIsReportedAndNotAttributedToNodes() {
        follow("n1");
        renew("n1", 10, 100, 0);
        LogLines log = LogLines.of(HeartbeatLags.class);
        cluster.loop.skewWallClock(Duration.ofHours(2));
        renew("n1", 110, 300, 0);

        assertThat(log.lines())
                .containsExactly("this machine's clock was set ahead by 2h0m0s; ages do not depend on it");
        assertThat(cluster.facts("n1").text("clock")).isEqualTo("clock behind by 1h59m59s to 2h0m0s");
        assertThat(cluster.decisions("ClockSet")).isEmpty();

        cluster.loop.skewWallClock(Duration.ofHours(-5));
        renew("n1", 310, 400, 0);
        assertThat(log.lines())
                .hasSize(2)
                .contains("this machine's clock was set back by 7h0m0s; ages do not depend on it");
        assertThat(cluster.facts("n1").text("clock")).isEqualTo("clock ahead by 5h0m0s to 5h0m1s");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();

        cluster.advanceTo("450S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        cluster.advanceTo("450.010S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void renewalsThatWaitedForAFrozenControllerSayNothingAboutClocks() {
        follow("n1");
        renew("n1", 10, 100, 0);
        cluster.advanceTo("105S");
        cluster.loop.freeze();
        for (int second = 110; second <= 160; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second));
        }
        cluster.advanceTo("165S");
        cluster.loop.thaw();
        renew("n1", 170, 200, 0);

        assertThat(cluster.events("ObserverSees")).hasSize(1);
        assertThat(cluster.decisions("ClockSet")).isEmpty();
        assertThat(cluster.facts("n1").text("clock")).isEqualTo("clock agrees within 1s");
        assertThat(lag().object("lags").number("maxMillis")).contains(55_000L);
    }

    private void follow(String name) {
        cluster.addNode(name, K, ready("True", B));
        cluster.renew(name, B);
        cluster.start();
    }

    /** Renewals each 10 s, by a clock that is some seconds ahead. */
    private void renew(String name, int from, int to, int ahead) {
        for (int second = from; second <= to; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew(name, B.plusSeconds(second + ahead));
        }
        cluster.advance(Duration.ZERO);
    }

    private JsonObject lag() {
        CompletableFuture<JsonObject> lag = cluster.controller.view().lag();
        cluster.advance(Duration.ZERO);
        return lag.join();
    }
}
