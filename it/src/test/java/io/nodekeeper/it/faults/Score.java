package io.nodekeeper.it.faults;

import java.util.List;
import java.util.Locale;

/** The numbers of a run, beside the goals. */
record Score(
        int faults,
        int right,
        int partly,
        int wrong,
        int unknown,
        int silent,
        int falselyCertain,
        int harsh,
        int harm,
        int idle,
        int starved) {
    /** The share of faults that must be right at the first place. */
    private static final double RIGHT_AT_LEAST = 0.95;

    private static final double SILENT_BELOW = 0.03;

    /**
     * Counts; faults without effect, and those in which the agent could not run, are only counted as such. What is false and
     * certain, harsh or harmful counts always.
     */
    static Score of(List<FaultResult> results) {
        List<FaultResult> real = results.stream().filter(FaultResult::counts).toList();
        return new Score(
                real.size(),
                count(real, Judgement.Verdict.RIGHT),
                count(real, Judgement.Verdict.PARTLY),
                count(real, Judgement.Verdict.WRONG),
                count(real, Judgement.Verdict.UNKNOWN),
                count(real, Judgement.Verdict.SILENT),
                (int) results.stream()
                        .filter(result -> !result.falselyCertain().isEmpty())
                        .count(),
                (int) results.stream()
                        .filter(result -> !result.harsh().isEmpty())
                        .count(),
                (int) results.stream()
                        .filter(result -> !result.harm().isEmpty())
                        .count(),
                (int) results.stream().filter(result -> !result.effect()).count(),
                (int) results.stream()
                        .filter(result -> result.effect() && result.starved())
                        .count());
    }

    /** Whether all goals are reached. */
    boolean reached() {
        return right >= RIGHT_AT_LEAST * faults
                && (silent == 0 || silent < SILENT_BELOW * faults)
                && falselyCertain + harsh + harm == 0;
    }

    /** In a line. */
    String line() {
        return String.format(
                Locale.ROOT,
                "%d right, %d partly, %d wrong, %d unknown, %d silent, %d without effect, %d not counted",
                right,
                partly,
                wrong,
                unknown,
                silent,
                idle,
                starved);
    }

    private static int count(List<FaultResult> results, Judgement.Verdict verdict) {
        return (int)
                results.stream().filter(result -> result.verdict() == verdict).count();
    }

    /** A table of Markdown. */
    String table() {
        return """
                | | measured | goal |
                |---|---|---|
                | faults that count (without effect: %d, agent without a processor: %d) | %d | 120 |
                | right at the first place | %d (%s) | 95 %% |
                | partly right (not first, or one of two) | %d (%s) | |
                | wrong | %d (%s) | |
                | said to be unknown | %d (%s) | |
                | silent | %d (%s) | below 3 %% |
                | something false with confidence "certain" | %d | 0 |
                | a remedy that is not the mildest | %d | 0 |
                | harm: something healthy did not survive | %d | 0 |
                """.formatted(
                        idle,
                        starved,
                        faults,
                        right,
                        share(right),
                        partly,
                        share(partly),
                        wrong,
                        share(wrong),
                        unknown,
                        share(unknown),
                        silent,
                        share(silent),
                        falselyCertain,
                        harsh,
                        harm);
    }

    private String share(int count) {
        return String.format(Locale.ROOT, "%.1f %%", faults == 0 ? 0.0 : 100.0 * count / faults);
    }
}
