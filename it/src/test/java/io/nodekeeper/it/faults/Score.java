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
        int idle) {
    /** Counts; faults without effect are only counted as such. */
    static Score of(List<FaultResult> results) {
        List<FaultResult> real = results.stream().filter(FaultResult::effect).toList();
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
                results.size() - real.size());
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
                | faults with an effect (without: %d) | %d | 120 |
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
