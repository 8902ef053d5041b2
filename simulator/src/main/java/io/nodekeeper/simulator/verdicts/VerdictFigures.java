package io.nodekeeper.simulator.verdicts;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * What verdicts cost and gave, in a few numbers.
 *
 * @param verdicts their number
 * @param back those after which the node soon sent a heartbeat: each moved work away from a node that was about to
 *     return
 * @param p50 median of the silences that the verdicts ended: how long a dead node went unnoticed. Without nodes that had
 *     never sent a heartbeat, for which another grace period counts
 * @param p99 99th percentile of the same
 * @param max longest of the same
 */
public record VerdictFigures(int verdicts, int back, Duration p50, Duration p99, Duration max) {

    /** The figures of {@code verdicts}; a node is soon back within {@code soon}. */
    public static VerdictFigures of(List<Verdict> verdicts, Duration soon) {
        List<Duration> silences = verdicts.stream()
                .filter(Verdict::reported)
                .map(Verdict::silence)
                .sorted()
                .toList();
        int back = (int)
                verdicts.stream().filter(verdict -> verdict.isBackWithin(soon)).count();
        return new VerdictFigures(
                verdicts.size(), back, percentile(silences, 50), percentile(silences, 99), percentile(silences, 100));
    }

    private static Duration percentile(List<Duration> sorted, int percent) {
        return sorted.isEmpty() ? Duration.ZERO : sorted.get((int) Math.ceil(percent * sorted.size() / 100.0) - 1);
    }

    /** As JSON; durations in seconds. */
    public JsonObject json() {
        return JsonObject.builder()
                .put("verdicts", verdicts)
                .put("back", back)
                .put("silenceP50Seconds", seconds(p50))
                .put("silenceP99Seconds", seconds(p99))
                .put("silenceMaxSeconds", seconds(max))
                .build();
    }

    private static JsonNumber seconds(Duration duration) {
        return new JsonNumber(String.format(Locale.ROOT, "%.3f", duration.toNanos() / 1e9));
    }
}
