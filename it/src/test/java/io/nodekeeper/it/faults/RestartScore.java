package io.nodekeeper.it.faults;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The numbers of a run in which agents were started again, beside the goals. Where the agent got too little of a processor,
 * or the fault ended, what was not named does not count; what was false does.
 */
record RestartScore(int right, int falselyWell, int falseFirst, int falseLater, int notNamed, int notCounted) {
    /** Counts the results in which the agent was started again while something hung. */
    static RestartScore of(List<FaultResult> results) {
        List<FaultResult> seen =
                results.stream().filter(result -> result.restart().isPresent()).toList();
        return new RestartScore(
                count(seen, RestartStory.Verdict.RIGHT),
                count(seen, RestartStory.Verdict.FALSELY_WELL),
                count(seen, RestartStory.Verdict.FALSE_FIRST),
                count(seen, RestartStory.Verdict.FALSE_LATER),
                count(seen, RestartStory.Verdict.NOT_NAMED),
                (int) seen.stream().filter(RestartScore::isIgnored).count());
    }

    /** Whether nothing false was said, and all was named. */
    boolean reached() {
        return right > 0 && falselyWell + falseFirst + falseLater + notNamed == 0;
    }

    /** A table of Markdown. */
    String table() {
        return """
                | | measured | goal |
                |---|---|---|
                | right: nothing too early, and each accusation is the cause | %d | all |
                | "nothing hangs" or Ready before it was known | %d | 0 |
                | the first accusation is not the cause | %d | 0 |
                | a later accusation is not the cause | %d | 0 |
                | the cause is not named in 60 s | %d | 0 |
                | not counted: the fault ended, had no effect, or the agent got no processor | %d | |
                """.formatted(right, falselyWell, falseFirst, falseLater, notNamed, notCounted);
    }

    /** In a line. */
    String line() {
        return String.format(
                Locale.ROOT,
                "%d right, %d falsely well, %d false first, %d false later, %d not named, %d not counted",
                right,
                falselyWell,
                falseFirst,
                falseLater,
                notNamed,
                notCounted);
    }

    /** Rows of a table of Markdown: number, fault, verdict, what was said. */
    static String rows(List<FaultResult> results) {
        return results.stream()
                .flatMap(result -> result.restart().stream()
                        .map(story -> "| %d | %s | %s%s | %s |%n"
                                .formatted(
                                        result.fault().number(),
                                        FaultResult.brief(result.fault().text()),
                                        isIgnored(result) ? "not counted: " : "",
                                        cell(story.shown()),
                                        cell(story.text()))))
                .collect(Collectors.joining());
    }

    private static String cell(String text) {
        return text.replace("|", "\\|");
    }

    private static boolean isIgnored(FaultResult result) {
        return result.restart()
                .filter(story -> switch (story.verdict()) {
                    case ENDED -> true;
                    case RIGHT, NOT_NAMED -> !result.counts();
                    case FALSELY_WELL -> !result.effect();
                    case FALSE_FIRST, FALSE_LATER -> false;
                })
                .isPresent();
    }

    private static int count(List<FaultResult> results, RestartStory.Verdict verdict) {
        return (int) results.stream()
                .filter(result -> !isIgnored(result))
                .filter(result -> result.restart().orElseThrow().verdict() == verdict)
                .count();
    }
}
