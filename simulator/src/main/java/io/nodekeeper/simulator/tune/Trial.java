package io.nodekeeper.simulator.tune;

import io.nodekeeper.simulator.Report;
import io.nodekeeper.simulator.replay.ReplayReport;
import io.nodekeeper.simulator.verdicts.Verdict;
import io.nodekeeper.simulator.verdicts.VerdictFigures;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What a candidate did.
 *
 * @param candidate what was tried
 * @param figures of its verdicts
 * @param renewals of leases, per second and node
 * @param evictions of pods; empty for a recording, which has no pods
 * @param violations broken rules, see {@link io.nodekeeper.simulator.oracle.Rule}
 */
public record Trial(
        Candidate candidate, VerdictFigures figures, double renewals, Optional<Long> evictions, long violations) {

    /** The trial of {@code candidate} in these simulations, at least one; see {@link VerdictFigures} for {@code soon}. */
    public static Trial simulated(Candidate candidate, List<Report> reports, Duration soon) {
        List<Verdict> verdicts =
                reports.stream().flatMap(report -> report.verdicts().stream()).toList();
        double renewals =
                reports.stream().mapToLong(report -> report.tally().renewals()).sum();
        double nodeSeconds = reports.stream()
                .mapToDouble(report -> report.options().nodes() * seconds(report.simulated()))
                .sum();
        return new Trial(
                candidate,
                VerdictFigures.of(verdicts, soon),
                renewals / nodeSeconds,
                Optional.of(reports.stream()
                        .mapToLong(report -> report.tally().evictions())
                        .sum()),
                reports.stream()
                        .mapToLong(report -> report.tally().violations())
                        .sum());
    }

    /** The trial of {@code candidate} with a recording. */
    public static Trial replayed(Candidate candidate, ReplayReport report, Duration soon) {
        double nodeSeconds = Math.max(1, report.recording().nodes())
                * Math.max(1e-9, seconds(report.recording().duration()));
        return new Trial(
                candidate,
                VerdictFigures.of(report.here(), soon),
                report.recording().renewals() / nodeSeconds,
                Optional.empty(),
                0);
    }

    /**
     * Whether {@code other} is better in one of these and worse in none: the 99th percentile of silences, the nodes that
     * were soon back, and renewals, which are what heartbeats cost. One that broke a rule beats none, whatever its figures are.
     */
    boolean isBeatenBy(Trial other) {
        if (other.violations > 0) {
            return false;
        }
        int silence = Long.compare(other.unnoticed(), unnoticed());
        int back = Integer.compare(other.figures.back(), figures.back());
        // Nodes start and fail at other moments: a hundredth is no difference.
        int cost = Long.compare(Math.round(other.renewals * 100), Math.round(renewals * 100));
        return silence <= 0 && back <= 0 && cost <= 0 && (silence < 0 || back < 0 || cost < 0);
    }

    /** How long dead nodes go unnoticed; what notices none is not quick. */
    private long unnoticed() {
        return figures.noticed() == 0 ? Long.MAX_VALUE : figures.p99().toMillis();
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
