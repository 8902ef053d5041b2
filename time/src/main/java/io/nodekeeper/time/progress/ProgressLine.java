package io.nodekeeper.time.progress;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Renders progress as one line of printable ASCII. Pure. */
final class ProgressLine {
    private ProgressLine() {}

    /**
     * The line of a task: {@code simulate: 20 %, about 12s left: 12m0s of 1h0m0s simulated (3s)}. Without a known end it has no
     * percentage and no estimate. What does not fit {@code width} is left out: first the elapsed time, then the task and the
     * step, then the end of the line.
     *
     * @param left the estimate for the rest of the step
     * @param width the most characters, from 0
     */
    static String of(String task, Progress progress, Duration elapsed, Optional<Duration> left, int width) {
        String step = progress.step().isEmpty() ? "" : progress.step() + ": ";
        String state = state(progress, left);
        String figures = (state.isEmpty() ? "" : state + ": ") + progress.figures();
        List<String> forms = List.of(
                task + ": " + step + figures + " (" + seconds(elapsed) + ")", task + ": " + step + figures, figures);
        String line = forms.stream()
                .filter(form -> form.length() <= width)
                .findFirst()
                .orElse(figures.substring(0, Math.min(figures.length(), width)));
        return line.replaceAll("[^\\x20-\\x7e]", "?");
    }

    private static String state(Progress progress, Optional<Duration> left) {
        if (!progress.hasEnd()) {
            return "";
        }
        String of = progress.step().isEmpty() ? "" : " in this step";
        return progress.percent() + " %"
                + left.map(rest -> ", about " + seconds(rest) + " left" + of).orElse("");
    }

    private static String seconds(Duration duration) {
        return GoDuration.format(Duration.ofSeconds(duration.toSeconds()));
    }
}
