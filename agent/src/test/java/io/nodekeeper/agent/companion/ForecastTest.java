package io.nodekeeper.agent.companion;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ForecastTest {
    private static final Instant NOW = Instant.parse("2026-01-01T01:00:00Z");
    private static final List<Forecast.Stuck> POD = List.of(new Forecast.Stuck("shop/cart", NOW.minusSeconds(100)));

    private static Optional<Instant> ago(long seconds) {
        return seconds < 0 ? Optional.empty() : Optional.of(NOW.minusSeconds(seconds));
    }

    private static Optional<KubeletMetrics> metrics(long lastRelistAgo, boolean evented) {
        return Optional.of(KubeletMetrics.lastRelist(ago(lastRelistAgo), evented));
    }

    private static Forecast.Facts facts(
            Optional<KubeletMetrics> metrics, long silent, long listed, long status, List<Forecast.Stuck> stuck) {
        return new Forecast.Facts(true, ago(silent), metrics, NOW, ago(listed), ago(status), stuck);
    }

    private static String announced(Forecast.Facts facts) {
        return Forecast.of(facts, NOW)
                .map(forecast -> forecast.reason() + ": " + forecast.announcement(NOW))
                .orElse("nothing");
    }

    @Test
    void theKubeletsOwnMetricsSayWhenAndTheStuckPodWhy() {
        assertThat(announced(facts(metrics(106, false), -1, 1, 1, POD)))
                .isEqualTo(
                        "PLEGStalled: the kubelet's PLEG will call this node NotReady in 1m14s because of pod shop/cart:"
                                + " its last relist began at 2026-01-01T00:58:14Z, threshold 3m0s");
    }

    @Test
    void theMessageOfTheConditionHasTheTimeAndDoesNotChangeUntilThen() {
        Forecast forecast =
                Forecast.of(facts(metrics(106, false), -1, 1, 1, POD), NOW).orElseThrow();

        assertThat(forecast.message(NOW)).isEqualTo(forecast.message(NOW.plusSeconds(73)));
        assertThat(forecast.message(NOW)).isEqualTo("""
                the kubelet's PLEG will call this node NotReady at 2026-01-01T01:01:14Z because of pod shop/cart: \
                its last relist began at 2026-01-01T00:58:14Z, threshold 3m0s""");
        assertThat(forecast.message(NOW.plusSeconds(74))).startsWith("""
                the kubelet's PLEG calls this node NotReady since 2026-01-01T01:01:14Z because of pod shop/cart""");
    }

    @Test
    void aKubeletThatRelistsIsNotAccusedWhateverTheCompanionsOwnCallsDo() {
        assertThat(announced(facts(metrics(29, false), -1, 170, 1, POD))).isEqualTo("nothing");
        assertThat(announced(facts(metrics(30, false), -1, 170, 1, POD))).startsWith("PLEGStalled");
    }

    @Test
    void aKubeletThatUsesEventsRelistsRarely() {
        assertThat(announced(facts(metrics(170, true), -1, 1, 1, List.of()))).isEqualTo("nothing");
    }

    @Test
    void aKubeletWithoutAFirstRelistIsOnlyStarting() {
        assertThat(announced(facts(metrics(-1, false), -1, 1, 1, List.of()))).isEqualTo("nothing");
    }

    @Test
    void withoutMetricsItEstimatesFromItsOwnListsAndInspections() {
        assertThat(announced(facts(Optional.empty(), -1, 1, 1, POD)))
                .isEqualTo("PLEGStallExpected: the kubelet's PLEG will call this node NotReady in 1m20s because of pod"
                        + " shop/cart: the container runtime has not answered for this pod since 2026-01-01T00:58:20Z,"
                        + " threshold 3m0s; an estimate, because the kubelet's metrics cannot be read");
        assertThat(announced(facts(Optional.empty(), -1, 40, 1, List.of())))
                .startsWith("PLEGStallExpected: the kubelet's PLEG will call this node NotReady in 2m20s: the container"
                        + " runtime last listed its pods at 2026-01-01T00:59:20Z");
        assertThat(announced(facts(Optional.empty(), -1, 29, 1, List.of()))).isEqualTo("nothing");
    }

    @Test
    void aRuntimeThatReportsNoStatusComesFirst() {
        assertThat(announced(facts(metrics(40, false), -1, 40, 20, POD)))
                .isEqualTo(
                        "RuntimeStatusStalled: the kubelet will call this node NotReady in 10s: the container runtime has"
                                + " not reported that it is ready since 2026-01-01T00:59:40Z, threshold 30s");
        assertThat(announced(facts(Optional.empty(), -1, 1, 14, List.of()))).isEqualTo("nothing");
    }

    @Test
    void aKubeletThatDoesNotAnswerReportsNothingItself() {
        assertThat(announced(facts(metrics(170, false), 10, 170, 29, POD)))
                .isEqualTo("KubeletNotAnswering: the kubelet does not answer: its health check has failed since"
                        + " 2026-01-01T00:59:50Z; if its lease is not renewed for 40s, the node becomes Unknown");
    }

    @Test
    void anEstimateThatDidNotComeTrueIsWithdrawn() {
        List<Forecast.Stuck> old = List.of(new Forecast.Stuck("shop/cart", NOW.minusSeconds(210)));
        Forecast.Facts stillReady = new Forecast.Facts(true, ago(-1), Optional.empty(), NOW, ago(1), ago(1), old);
        Forecast.Facts cameTrue = new Forecast.Facts(false, ago(-1), Optional.empty(), NOW, ago(1), ago(1), old);

        assertThat(announced(stillReady)).isEqualTo("nothing");
        assertThat(announced(cameTrue))
                .startsWith("PLEGStallExpected: the kubelet's PLEG calls this node NotReady since");
    }

    @Test
    void slowRelistsAreToldBetweenTwoOfThem() {
        KubeletMetrics before = new KubeletMetrics(
                ago(60),
                new KubeletMetrics.Relists(10, 20),
                Optional.empty(),
                Map.of("container_status", 1.0),
                List.of(),
                false);
        KubeletMetrics now = new KubeletMetrics(
                        ago(5),
                        new KubeletMetrics.Relists(11, 85),
                        Optional.empty(),
                        Map.of("container_status", 2.0, "exec_sync", 0.0),
                        List.of(),
                        false)
                .since(before);

        assertThat(announced(facts(Optional.of(now), -1, 1, 1, POD)))
                .isEqualTo(
                        "PLEGSlow: the kubelet's PLEG is slow because of pod shop/cart: its relists take 1m5s; if one takes"
                                + " 3m0s, it calls this node NotReady; these calls of it to the runtime fail: container_status");
    }

    @Test
    void nothingKnownIsNoForecast() {
        assertThat(Forecast.of(Forecast.Facts.NONE, NOW)).isEmpty();
    }

    /** While one stall lasts, readings of the clocks that differ by a second do not change the message. */
    @Property
    void theMessageOfOneStallChangesAtMostOnce(@ForAll @IntRange(min = 31, max = 100) int stalled, @ForAll long seed) {
        RandomGenerator random = Randoms.seeded(seed);
        Set<String> messages = new HashSet<>();
        Optional<Forecast> current = Optional.empty();
        Instant begin = NOW.minusSeconds(stalled);
        for (int second = 0; second < 200; second++) {
            Instant now = NOW.plusSeconds(second);
            Forecast.Facts facts = new Forecast.Facts(
                    true,
                    Optional.empty(),
                    Optional.of(KubeletMetrics.lastRelist(Optional.of(begin.plusMillis(random.nextInt(1_000))), false)),
                    now,
                    Optional.empty(),
                    Optional.empty(),
                    POD);
            Optional<Forecast> before = current;
            current = Forecast.of(facts, now).map(forecast -> forecast.or(before));
            messages.add(current.orElseThrow().message(now));
        }

        assertThat(messages).hasSizeLessThanOrEqualTo(2);
        assertThat(Duration.between(begin, current.orElseThrow().at().orElseThrow()))
                .isBetween(Duration.ofSeconds(180), Duration.ofSeconds(181));
    }
}
