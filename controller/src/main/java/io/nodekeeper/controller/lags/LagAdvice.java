package io.nodekeeper.controller.lags;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Advice about {@code --node-monitor-grace-period} from the measured lags. It is for people; the controller does not
 * use it. A grace period is comfortable if it is at least {@link #COMFORT} times the 99.9th percentile of all gaps, and
 * not below the longest gap. Immutable.
 *
 * @param gaps between the heartbeats of each node, by the controller's monotonic clock
 * @param lags of renewals: their delay beyond the fastest renewal of their node
 * @param grace the configured grace period
 */
public record LagAdvice(LagSummary gaps, LagSummary lags, Duration grace) {
    /**
     * How many times the 99.9th percentile of the gaps a grace period should be: with a margin of 40 %, a gap of 30 s
     * gives 42 s, close to the 40 s and 50 s that Kubernetes has used as defaults.
     */
    static final double COMFORT = 1.4;
    /** Fewer gaps have no 99.9th percentile. */
    static final long ENOUGH = 1_000;
    /** Suggestions are multiples of it. */
    private static final long STEP_SECONDS = 5;
    /**
     * The time in which an HTTP/2 client detects a dead connection: 30 s idle and 15 s without a response to a ping.
     */
    private static final Duration CONNECTION_LOSS = Duration.ofSeconds(45);

    /** The shortest comfortable grace, in whole steps of 5 s. */
    public Duration comfortable() {
        double seconds = Math.max(COMFORT * seconds(gaps.p999()), seconds(gaps.max()));
        return Duration.ofSeconds(Math.max(1, (long) Math.ceil(seconds / STEP_SECONDS)) * STEP_SECONDS);
    }

    /** The advice, in sentences. */
    public String text() {
        if (gaps.count() == 0) {
            return "no gaps between heartbeats were observed yet";
        }
        List<String> sentences = new ArrayList<>();
        sentences.add("observed p99.9 gap between heartbeats " + format(gaps.p999()) + " (" + gaps.count()
                + " gaps, longest " + format(gaps.max()) + " of node " + gaps.worst() + "), grace " + format(grace)
                + ": " + times(grace) + " times");
        if (lags.count() > 0) {
            sentences.add("renewals took up to " + format(lags.p999()) + " longer than usual (p99.9, longest "
                    + format(lags.max()) + " of node " + lags.worst() + ")");
        }
        if (grace.compareTo(gaps.max()) <= 0) {
            sentences.add(
                    "a live node exceeded this grace period, so its verdict was wrong unless a live read prevented"
                            + " it");
        }
        if (gaps.count() < ENOUGH) {
            sentences.add("fewer than " + ENOUGH + " gaps are too few for advice");
        } else {
            sentences.add(advice());
        }
        return String.join("; ", sentences);
    }

    /** The advice as JSON. */
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
            return "the grace period should not be shorter";
        }
        return "a grace of " + format(better) + " would still be " + times(better) + " times"
                + (better.compareTo(CONNECTION_LOSS) < 0
                        ? ", but less than the 45s that a node needs to detect a dead connection"
                        : "");
    }

    private String times(Duration span) {
        // Gaps below a millisecond count as one.
        return String.format(Locale.ROOT, "%.1f", seconds(span) / Math.max(0.001, seconds(gaps.p999())));
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    private static String format(Duration duration) {
        return GoDuration.format(Duration.ofMillis(Math.round(duration.toNanos() / 1e8) * 100));
    }
}
