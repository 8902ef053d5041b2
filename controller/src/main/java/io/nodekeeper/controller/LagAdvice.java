package io.nodekeeper.controller;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What the measured lags say about {@code --node-monitor-grace-period}: advice for people, taken by nobody else. A grace is
 * comfortable from {@link #COMFORT} times the gap that 99.9 % of all gaps do not exceed, and not below the longest one.
 * Immutable.
 *
 * @param gaps between the signs of life of each node, by the controller's monotonic clock
 * @param lags of renewals on their way: what they took beyond the quickest of their node
 * @param grace that is in force
 */
public record LagAdvice(LagSummary gaps, LagSummary lags, Duration grace) {
    /** How much longer than all but one in a thousand gaps a grace should be. Chosen. */
    static final double COMFORT = 1.4;
    /** Fewer gaps say nothing about one in a thousand. */
    static final long ENOUGH = 1_000;
    /** Suggestions are multiples of it. */
    private static final long STEP_SECONDS = 5;
    /** The time in which an HTTP/2 client finds out that its connection is dead: 30 s idle and 15 s without an answer. */
    private static final Duration CONNECTION_LOSS = Duration.ofSeconds(45);

    /** The shortest comfortable grace, in whole steps of 5 s. */
    public Duration comfortable() {
        double seconds = Math.max(COMFORT * seconds(gaps.p999()), seconds(gaps.max()));
        return Duration.ofSeconds(Math.max(1, (long) Math.ceil(seconds / STEP_SECONDS)) * STEP_SECONDS);
    }

    /** The advice, in sentences. */
    public String text() {
        if (gaps.count() == 0) {
            return "no gaps between signs of life were observed yet";
        }
        List<String> sentences = new ArrayList<>();
        sentences.add("observed p99.9 gap between signs of life " + format(gaps.p999()) + " (" + gaps.count()
                + " gaps, longest " + format(gaps.max()) + " of node " + gaps.worst() + "), grace " + format(grace)
                + ": " + times(grace) + " times");
        if (lags.count() > 0) {
            sentences.add(
                    "renewals took up to " + format(lags.p999()) + " longer than usual on their way (p99.9, longest "
                            + format(lags.max()) + " of node " + lags.worst() + ")");
        }
        if (grace.compareTo(gaps.max()) <= 0) {
            sentences.add(
                    "a node that was alive exceeded this grace, so its verdict was false unless a live look prevented it");
        }
        if (gaps.count() < ENOUGH) {
            sentences.add("fewer than " + ENOUGH + " gaps are too few for advice");
        } else {
            sentences.add(advice());
        }
        return String.join("; ", sentences);
    }

    /** All of it. */
    public JsonObject json() {
        JsonObject.Builder json = JsonObject.builder()
                .put("gaps", gaps.json())
                .put("lags", lags.json())
                .put("graceMillis", grace.toMillis());
        if (gaps.count() >= ENOUGH) {
            json.put("graceTimesP999", new JsonNumber(times(grace)))
                    .put("comfortableGraceMillis", comfortable().toMillis());
        }
        return json.put("advice", text()).build();
    }

    private String advice() {
        Duration better = comfortable();
        if (better.compareTo(grace) > 0) {
            return "a grace of " + format(better) + " would be safer: " + times(better) + " times";
        }
        if (better.equals(grace)) {
            return "the grace is as short as it should be";
        }
        return "a grace of " + format(better) + " would still be " + times(better) + " times"
                + (better.compareTo(CONNECTION_LOSS) < 0
                        ? ", but less than the 45s in which a node finds out that its connection is dead"
                        : "");
    }

    private String times(Duration span) {
        // Gaps that are too short to measure count as a millisecond.
        return String.format(Locale.ROOT, "%.1f", seconds(span) / Math.max(0.001, seconds(gaps.p999())));
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    private static String format(Duration duration) {
        return GoDuration.format(Duration.ofMillis(Math.round(duration.toNanos() / 1e8) * 100));
    }
}
