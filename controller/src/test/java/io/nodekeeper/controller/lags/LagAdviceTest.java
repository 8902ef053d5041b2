package io.nodekeeper.controller.lags;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LagAdviceTest {
    private static final long MILLI = 1_000_000;
    private static final LagSummary NO_LAGS = new LagHistogram().summary();

    private final LagHistogram gaps = new LagHistogram();

    @Test
    void shorterGraceIsOfferedWithItsPrice() {
        LagSummary observed = new LagSummary(
                8_640,
                Duration.ofSeconds(10),
                Duration.ofSeconds(11),
                Duration.ofMillis(14_200),
                Duration.ofSeconds(19),
                "node-3");
        LagSummary lags = new LagSummary(
                8_640,
                Duration.ofMillis(5),
                Duration.ofMillis(80),
                Duration.ofMillis(700),
                Duration.ofMillis(2_300),
                "node-9");

        LagAdvice advice = new LagAdvice(observed, lags, Duration.ofSeconds(50));

        assertThat(advice.text())
                .isEqualTo("observed p99.9 gap between heartbeats 14.2s (8640 gaps, longest 19s of node node-3),"
                        + " grace 50s: 3.5 times; renewals took up to 700ms longer than usual"
                        + " (p99.9, longest 2.3s of node node-9); a grace of 20s would still be 1.4 times,"
                        + " but less than the 45s that a node needs to detect a dead connection");
        assertThat(advice.json().toString())
                .isEqualTo("{\"gaps\":{\"count\":8640,\"p50Millis\":10000,\"p99Millis\":11000,\"p999Millis\":14200,"
                        + "\"maxMillis\":19000,\"worstNode\":\"node-3\"},"
                        + "\"lags\":{\"count\":8640,\"p50Millis\":5,\"p99Millis\":80,\"p999Millis\":700,"
                        + "\"maxMillis\":2300,\"worstNode\":\"node-9\"},"
                        + "\"graceMillis\":50000,\"graceTimesP999\":3.5,\"comfortableGraceMillis\":20000,"
                        + "\"advice\":\"" + advice.text() + "\"}");
    }

    @Test
    @Tag("L79")
    void signOfLifeThatIs41SecondsLateOnceSpeaksAgainstAGraceOf40Seconds() {
        record(10_200, 1_200, "node-1");
        record(41_000, 1, "node-7");

        assertThat(new LagAdvice(gaps.summary(), NO_LAGS, Duration.ofSeconds(40)).text())
                .isEqualTo("observed p99.9 gap between heartbeats 10.2s (1201 gaps, longest 41s of node node-7),"
                        + " grace 40s: 3.9 times; a live node exceeded this grace period, so its verdict was wrong"
                        + " unless a live read prevented it; a grace of 45s would be safer: 4.4 times");
        assertThat(new LagAdvice(gaps.summary(), NO_LAGS, Duration.ofSeconds(50)).text())
                .isEqualTo("observed p99.9 gap between heartbeats 10.2s (1201 gaps, longest 41s of node node-7),"
                        + " grace 50s: 4.9 times; a grace of 45s would still be 4.4 times");
        assertThat(new LagAdvice(gaps.summary(), NO_LAGS, Duration.ofSeconds(45)).text())
                .endsWith("grace 45s: 4.4 times; the grace period should not be shorter");
    }

    @Test
    void fewGapsMakeNoAdvice() {
        assertThat(new LagAdvice(gaps.summary(), NO_LAGS, Duration.ofSeconds(50)).text())
                .isEqualTo("no gaps between heartbeats were observed yet");

        record(10_000, 999, "node-1");

        LagAdvice advice = new LagAdvice(gaps.summary(), NO_LAGS, Duration.ofSeconds(50));
        assertThat(advice.text()).endsWith("; fewer than 1000 gaps are too few for advice");
        assertThat(advice.json().has("comfortableGraceMillis")).isFalse();
    }

    @Test
    void whatIsOlderThanTwoWindowsIsForgotten() {
        record(41_000, 1, "node-7");
        gaps.rotate();
        record(10_000, 3, "node-1");

        assertThat(gaps.summary().max()).isEqualTo(Duration.ofSeconds(41));
        assertThat(gaps.summary().worst()).isEqualTo("node-7");
        assertThat(gaps.summary().count()).isEqualTo(4);

        gaps.rotate();
        assertThat(gaps.summary().max()).isEqualTo(Duration.ofSeconds(10));
        assertThat(gaps.summary().worst()).isEqualTo("node-1");
        gaps.rotate();
        assertThat(gaps.summary()).isEqualTo(NO_LAGS);
    }

    @Property(tries = 300)
    void percentilesAreAtMostThreePercentTooHigh(@ForAll @NotEmpty List<@IntRange(max = 100_000_000) Integer> millis) {
        LagHistogram histogram = new LagHistogram();
        millis.forEach(gap -> histogram.record(gap * MILLI, "node-1"));

        LagSummary summary = histogram.summary();

        List<Integer> sorted = millis.stream().sorted().toList();
        assertThat(summary.count()).isEqualTo(sorted.size());
        assertThat(summary.max().toMillis()).isEqualTo((long) sorted.getLast());
        long median = sorted.get((sorted.size() + 1) / 2 - 1);
        assertThat(summary.p50().toMillis()).isBetween(median, median + median / 32 + 1);
        long p99 = sorted.get(Math.ceilDiv(sorted.size() * 99, 100) - 1);
        assertThat(summary.p99().toMillis()).isBetween(p99, p99 + p99 / 32 + 1);
    }

    private void record(long millis, int times, String node) {
        for (int i = 0; i < times; i++) {
            gaps.record(millis * MILLI, node);
        }
    }
}
