package io.nodekeeper.simulator.verdicts;

import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.List;

/**
 * What verdicts cost and gave, in a few numbers.
 *
 * @param verdicts their number
 * @param back those after which the node soon sent a heartbeat: each moved work away from a node that was about to
 *     return
 * @param noticed those about nodes that had sent a heartbeat before; without any, the silences are 0
 * @param p50 median of the silences that the verdicts ended: how long a dead node went unnoticed. Without nodes that had
 *     never sent a heartbeat, for which another grace period counts
 * @param p99 99th percentile of the same
 * @param max longest of the same
 */
public record VerdictFigures(int verdicts, int back, int noticed, Duration p50, Duration p99, Duration max) {

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
                verdicts.size(),
                back,
                silences.size(),
                Figures.percentile(silences, 50),
                Figures.percentile(silences, 99),
                Figures.percentile(silences, 100));
    }

    /** One of the silences, for people; {@code -} if there are none. */
    public String silence(Duration one) {
        return noticed == 0 ? "-" : Figures.millis(one);
    }

    /** As JSON; durations in seconds. */
    public JsonObject json() {
        return JsonObject.builder()
                .put("verdicts", verdicts)
                .put("back", back)
                .put("noticed", noticed)
                .put("silenceP50Seconds", Figures.seconds(p50))
                .put("silenceP99Seconds", Figures.seconds(p99))
                .put("silenceMaxSeconds", Figures.seconds(max))
                .build();
    }
}
