package io.nodekeeper.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.controller.StallWorld.Stall;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.observer.CanaryLease;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A stalled watch delays verdicts by a bounded time: if lease and node can be read live and writes are known to
 * succeed, a node without heartbeats is Unknown within 30 s of its grace. No other node becomes Unknown.
 */
@Tag("W1")
class DegradedJudgementTest {
    private static final int GRACE = 40;
    private static final long BOUND = 30_000;
    private static final long FOR_EVER = Long.MAX_VALUE;

    private final StallWorld world = new StallWorld(GRACE);

    @ParameterizedTest
    @ValueSource(ints = {400, 403, 422, 429, 500})
    void refusedCanaryDelaysVerdictsByABoundedTime(int code) {
        nodes();
        world.refuseCanary(code, any -> true);

        run(200_000);

        judged();
        assertThat(world.metric("nodekeeper_observer_degraded{how=\"renewals\"}"))
                .isEqualTo("1.0");
        assertThat(world.events)
                .anySatisfy(event -> assertThat(event)
                        .isEqualTo("JudgementDegraded: judgement is degraded: nodes get verdicts later than usual, from"
                                + " live reads, because lists of the leases show that at least half of"
                                + " the nodes renew their leases"));
        assertThat(verdict().details().text("sight"))
                .startsWith("the watch was too late; instead a list of the leases showed that at least half of the"
                        + " nodes renew their leases, ");
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 500})
    void canaryThatIsRefusedNineteenTimesInTwentyDoesSoToo(int code) {
        nodes();
        world.refuseCanary(code, number -> number % 20 != 0);

        run(200_000);

        judged();
    }

    @ParameterizedTest
    @ValueSource(longs = {1_000, 2_500, 3_500, 6_000, 20_000})
    void watchThatLagsDelaysVerdictsByABoundedTime(long lag) {
        nodes();
        world.watchLag = lag;

        run(200_000);

        assertThat(late()).isLessThanOrEqualTo(Math.min(BOUND, 2 * lag + 10_000));
        judged();
    }

    @Test
    void stalledWatchIsReplacedByLists() {
        nodes();
        world.stall(Stall.WATCH, 5_000, 1_000_000);

        run(200_000);

        judged();
        assertThat(world.metric("nodekeeper_observer_degraded{how=\"list\"}")).isEqualTo("1.0");
        assertThat(world.metric("nodekeeper_observer_blind{hop=\"watch\"}")).isEqualTo("1.0");
        assertThat(world.facts("alive-0").text("controllerIsBlind"))
                .endsWith(
                        "writes succeed, but the watch does not send them (watch); nodes get verdicts later than usual,"
                                + " from live reads, because lists of the leases show that writes succeed");
    }

    @Test
    void listOfOneNameStandsInForAForbiddenGet() {
        nodes();
        Predicate<String> single = target -> !target.contains("?") && target.split("/").length > 4;
        world.refuse = call -> call.method().equals("GET")
                        && single.test(call.target())
                        && !call.target().endsWith("/leases")
                ? Optional.of(new ApiException(403, "Forbidden", "no get"))
                : Optional.empty();

        run(200_000);

        assertThat(late()).isLessThanOrEqualTo(5_000);
        judged();
    }

    @Test
    void sampleOfLeasesStandsInForAForbiddenList() {
        nodes();
        world.start();
        world.until(1_000);
        world.refuse = call -> call.target().contains("/leases?limit=")
                        || call.method().equals("PATCH") && call.target().endsWith(CanaryLease.NAME)
                ? Optional.of(new ApiException(403, "Forbidden", "no list"))
                : Optional.empty();

        world.until(200_000);

        judged();
    }

    @ParameterizedTest
    @ValueSource(longs = {20_000, 45_000, 60_000, 300_000})
    void storeThatTakesNoWritesBlamesNobodyThoughItsReadsWork(long length) {
        nodes();
        world.stall(Stall.STORE_WRITES, 50_000, length);

        run(50_000 + length + 200_000);

        judgedWithin(length);
    }

    @ParameterizedTest
    @ValueSource(longs = {20_000, 45_000, 60_000, 300_000})
    void refusedCanaryAndAStoreThatTakesNoWritesBlameNobody(long length) {
        nodes();
        world.refuseCanary(403, any -> true);
        world.stall(Stall.STORE_WRITES, 50_000, length);

        run(50_000 + length + 200_000);

        judgedWithin(length + 60_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"API_SERVER", "STORE", "CONTROLLER"})
    void refusedCanaryAndAnyOtherStallMakeNoNodeUnknown(Stall kind) {
        nodes();
        world.refuseCanary(429, any -> true);
        world.stall(kind, 50_000, 70_000);

        run(320_000);

        judgedWithin(130_000);
    }

    @Test
    void nothingIsProvenWhileNoWriteIsKnownToHaveEnded() {
        world.node("only", 1_000, 10_000, 35_000);
        world.refuseCanary(500, any -> true);

        run(300_000);

        assertThat(world.unknownAt("only")).isEmpty();
        assertThat(world.metric("nodekeeper_observer_degraded{how=\"none\"}")).isEqualTo("1.0");
    }

    @Test
    void serverThatWasFrozenBeforeTheControllerStartedIsBlindness() {
        nodes();
        world.stall(Stall.API_SERVER, 0, 60_000);
        world.until(1);

        run(30_000);

        assertThat(world.metric("nodekeeper_observer_blind{hop=\"api_server\"}"))
                .isEqualTo("1.0");
        assertThat(world.sight().bool("sees")).isFalse();
        world.until(100_000);
        assertThat(world.sight().bool("sees")).isTrue();
        assertThat(world.metric("nodekeeper_observer_blind{hop=\"api_server\"}"))
                .isEqualTo("0.0");
    }

    @Test
    void blindTimeIsBookedToTheHopThatStalledAndNotToTheLastOne() {
        nodes();
        world.stall(Stall.API_SERVER, 50_300, 40_000);

        run(150_000);

        assertThat(blindSeconds("api_server")).isBetween(37.0, 43.0);
        assertThat(blindSeconds("watch") + blindSeconds("store") + blindSeconds("controller"))
                .isLessThan(3);
        assertThat(world.events)
                .filteredOn(event -> event.startsWith("ObserverSees"))
                .singleElement()
                .asString()
                .contains("the API server does not answer (API server)");
    }

    @Test
    void pollsAreOneAtATimeAndEndWithTheBlindness() {
        nodes();
        world.stall(Stall.WATCH, 50_000, 60_000);
        run(50_000);
        int before = lists();

        world.until(110_000);
        assertThat(lists() - before).isBetween(15, 30);
        int blind = lists();
        world.until(200_000);
        assertThat(lists()).isLessThanOrEqualTo(blind + 1);
    }

    /** Six that live, and two that die at 95 s. */
    private void nodes() {
        for (int i = 0; i < 6; i++) {
            world.node("alive-" + i, 1_000L + 1_700 * i, 10_000, FOR_EVER);
        }
        world.node("dead-0", 3_000, 10_000, 95_000);
        world.node("dead-1", 7_500, 10_000, 95_000);
    }

    private void run(long until) {
        world.start();
        world.until(until);
    }

    private long late() {
        return Math.max(late("dead-0"), late("dead-1"));
    }

    private long late(String name) {
        return world.unknownAt(name).orElse(FOR_EVER / 2) - world.deadline(name);
    }

    private void judged() {
        judgedWithin(0);
    }

    private void judgedWithin(long stall) {
        for (int i = 0; i < 6; i++) {
            assertThat(world.unknownAt("alive-" + i)).as("alive-" + i).isEmpty();
        }
        assertThat(late("dead-0")).as("dead-0").isBetween(0L, stall + BOUND);
        assertThat(late("dead-1")).as("dead-1").isBetween(0L, stall + BOUND);
    }

    private Decision verdict() {
        return world.decisions.stream()
                .filter(decision -> decision.kind().equals("Unknown"))
                .findFirst()
                .orElseThrow();
    }

    private double blindSeconds(String hop) {
        return Double.parseDouble(world.metric("nodekeeper_observer_blind_seconds_total{hop=\"" + hop + "\"}"));
    }

    private int lists() {
        return world.calls.entrySet().stream()
                .filter(entry ->
                        entry.getKey().startsWith("GET ") && entry.getKey().endsWith("/leases"))
                .mapToInt(Map.Entry::getValue)
                .sum();
    }
}
