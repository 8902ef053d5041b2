package io.nodekeeper.simulator;

import io.nodekeeper.api.JsonNumber;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Locale;

/**
 * What came out of a random run.
 *
 * @param options what was run
 * @param took real time
 * @param tasks tasks that ran in all loops
 * @param renewals of leases
 * @param outages of nodes
 * @param verdicts nodes declared Unknown
 * @param late verdicts that did not come within the grace and 110 ms
 * @param falseVerdicts verdicts against nodes that renewed within the grace, or were not at fault
 * @param notReturned nodes that were not Ready one status period after they were back
 * @param taintsLate taints that did not follow within 1 s
 * @param p50 median of the verdicts' delays beyond the grace
 * @param p99 99th percentile of the same
 * @param max longest of the same
 * @param traceLines lines of the trace
 * @param traceHash SHA-256 of the trace
 */
public record Report(
        RandomRun.Options options,
        Duration took,
        long tasks,
        long renewals,
        long outages,
        long verdicts,
        long late,
        long falseVerdicts,
        long notReturned,
        long taintsLate,
        Duration p50,
        Duration p99,
        Duration max,
        long traceLines,
        String traceHash) {

    /** Whether every invariant held. */
    public boolean isGood() {
        return late + falseVerdicts + notReturned + taintsLate == 0;
    }

    /** For people. */
    public String text() {
        double speed = (double) options.duration().toNanos() / Math.max(1, took.toNanos());
        return String.format(
                Locale.ROOT,
                """
                %d nodes for %s of virtual time, seed %d: took %s (%.0f times real time), %d tasks
                renewals     %d
                outages      %d
                verdicts     %d, late %d, false %d
                delay        p50 %s, p99 %s, max %s beyond the grace
                not Ready    %d nodes one status period after their return
                taints late  %d
                trace        %d lines, sha256 %s
                %s""",
                options.nodes(),
                GoDuration.format(options.duration()),
                options.seed(),
                millis(took),
                speed,
                tasks,
                renewals,
                outages,
                verdicts,
                late,
                falseVerdicts,
                micros(p50),
                micros(p99),
                micros(max),
                notReturned,
                taintsLate,
                traceLines,
                traceHash,
                isGood() ? "every invariant held" : "INVARIANTS BROKE: see VIOLATION in the trace");
    }

    /** For programs; durations in seconds. */
    public JsonObject json() {
        return JsonObject.builder()
                .put("nodes", options.nodes())
                .put("durationSeconds", seconds(options.duration()))
                .put("seed", options.seed())
                .put("tookSeconds", seconds(took))
                .put("tasks", tasks)
                .put("renewals", renewals)
                .put("outages", outages)
                .put("verdicts", verdicts)
                .put("late", late)
                .put("false", falseVerdicts)
                .put("notReturned", notReturned)
                .put("taintsLate", taintsLate)
                .put("delayP50Seconds", seconds(p50))
                .put("delayP99Seconds", seconds(p99))
                .put("delayMaxSeconds", seconds(max))
                .put("traceLines", traceLines)
                .put("traceSha256", traceHash)
                .put("good", isGood())
                .build();
    }

    private static JsonNumber seconds(Duration duration) {
        return new JsonNumber(String.format(Locale.ROOT, "%.6f", duration.toNanos() / 1e9));
    }

    private static String millis(Duration duration) {
        return GoDuration.format(Duration.ofMillis(duration.toMillis()));
    }

    private static String micros(Duration duration) {
        return GoDuration.format(Duration.ofNanos(duration.toNanos() / 1_000 * 1_000));
    }
}
