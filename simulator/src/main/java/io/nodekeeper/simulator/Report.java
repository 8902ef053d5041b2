package io.nodekeeper.simulator;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.simulator.oracle.Rule;
import io.nodekeeper.simulator.oracle.Tally;
import io.nodekeeper.simulator.verdicts.Figures;
import io.nodekeeper.simulator.verdicts.Verdict;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * The result of a random run.
 *
 * @param options the run's options
 * @param simulated virtual time; less than the options say if the run was asked to end
 * @param took real time
 * @param tasks tasks that ran in all loops
 * @param outages faults of nodes
 * @param tally the oracle's final counts
 * @param verdicts all verdicts, by their time
 * @param p50 median of the verdicts' delays beyond the grace
 * @param p99 99th percentile of the same
 * @param max longest of the same
 * @param traceLines lines of the trace
 * @param traceHash SHA-256 of the trace
 */
public record Report(
        RandomRunOptions options,
        Duration simulated,
        Duration took,
        long tasks,
        long outages,
        Tally tally,
        List<Verdict> verdicts,
        Duration p50,
        Duration p99,
        Duration max,
        long traceLines,
        String traceHash) {

    /** Whether the run ended before its time. */
    public boolean isPartial() {
        return simulated.compareTo(options.duration()) < 0;
    }

    /** Whether every rule held and, if any node was silent for its grace, verdicts were tested. */
    public boolean isGood() {
        return tally.violations() == 0 && !isUnjudged();
    }

    /**
     * Whether nodes were silent for longer than their grace and no verdict came: then the lack of violations proves
     * nothing.
     */
    boolean isUnjudged() {
        return tally.silences() > 0 && tally.verdicts() == 0;
    }

    /** The report as text. */
    public String text() {
        double speed = (double) simulated.toNanos() / Math.max(1, took.toNanos());
        StringBuilder text = new StringBuilder();
        if (isPartial()) {
            text.append("PARTIAL: interrupted after " + GoDuration.format(simulated) + " of "
                    + GoDuration.format(options.duration()) + " of virtual time\n");
        }
        text.append(String.format(
                Locale.ROOT,
                """
                %d nodes for %s of virtual time, seed %d: took %s (%.0f times real time), %d tasks
                renewals     %d
                outages      %d
                verdicts     %d, for %d silences beyond the grace
                delay        %s
                NoExecute    %d nodes tainted, %d pods evicted, %d collected
                re-created   %d nodes
                trace        %d lines, sha256 %s
                """,
                options.nodes(),
                GoDuration.format(simulated),
                options.seed(),
                Figures.millis(took),
                speed,
                tasks,
                tally.renewals(),
                outages,
                tally.verdicts(),
                tally.silences(),
                delay(),
                tally.noExecutes(),
                tally.evictions(),
                tally.collections(),
                tally.recreations(),
                traceLines,
                traceHash));
        for (Rule rule : Rule.values()) {
            if (tally.of(rule) > 0) {
                text.append(String.format(Locale.ROOT, "%-12d %s%n", tally.of(rule), rule.meaning()));
            }
        }
        return text.append(outcome()).toString();
    }

    /** An adaptive detector has no grace that a verdict could be late by. */
    private String delay() {
        return tally.delays().isEmpty()
                ? "not measured"
                : "p50 " + micros(p50) + ", p99 " + micros(p99) + ", max " + micros(max) + " beyond the grace";
    }

    private String outcome() {
        if (tally.violations() > 0) {
            return "INVARIANTS BROKE: see VIOLATION in the trace";
        }
        if (isUnjudged()) {
            return "NOTHING JUDGED: " + tally.silences()
                    + " times a node was silent for longer than its grace, and no verdict came";
        }
        if (isPartial()) {
            return "no rule was broken until then";
        }
        return tally.verdicts() == 0
                ? "no rule was broken; no node was silent for its grace, so no verdict was due"
                : "every invariant held";
    }

    /** The report as JSON; durations in seconds. */
    public JsonObject json() {
        JsonObject.Builder json = JsonObject.builder()
                .put("nodes", options.nodes())
                .put("durationSeconds", Figures.seconds(options.duration()))
                .put("partial", isPartial())
                .put("simulatedSeconds", Figures.seconds(simulated))
                .put("seed", options.seed())
                .put("tookSeconds", Figures.seconds(took))
                .put("tasks", tasks)
                .put("renewals", tally.renewals())
                .put("outages", outages)
                .put("silences", tally.silences())
                .put("verdicts", tally.verdicts())
                .put("noExecuteTaints", tally.noExecutes())
                .put("evictions", tally.evictions())
                .put("collections", tally.collections())
                .put("recreations", tally.recreations());
        for (Rule rule : Rule.values()) {
            json.put(rule.key(), tally.of(rule));
        }
        return json.put("delayP50Seconds", Figures.seconds(p50))
                .put("delayP99Seconds", Figures.seconds(p99))
                .put("delayMaxSeconds", Figures.seconds(max))
                .put("traceLines", traceLines)
                .put("traceSha256", traceHash)
                .put("good", isGood())
                .build();
    }

    private static String micros(Duration duration) {
        return GoDuration.format(Duration.ofNanos(duration.toNanos() / 1_000 * 1_000));
    }
}
