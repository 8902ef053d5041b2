package io.nodekeeper.time.progress;

import java.time.Duration;

/** What is written to show a task's progress, as text with control characters. Pure, but for what is on the screen. Not thread-safe. */
final class ProgressPrinter {
    /** Moves to the beginning of the line and clears it. */
    private static final String CLEAR = "\r\u001b[K";
    /** The most characters of a line in a file: a screen's width twice. */
    private static final int LONGEST = 200;

    private final String task;
    private final ProgressStyle style;
    private final long began;
    private final Pace pace;
    private boolean shown;

    /** Shows {@code task}, which began at {@code began} (monotonic nanoseconds). */
    ProgressPrinter(String task, ProgressStyle style, long began) {
        this.task = task;
        this.style = style;
        this.began = began;
        pace = new Pace(began);
    }

    /**
     * What to write now. On a terminal the cursor stays at the beginning, so that lines of others replace this one.
     *
     * @param now monotonic nanoseconds
     * @param width the terminal's columns; the last one stays empty, because some terminals would begin a new line
     */
    String next(Progress progress, long now, int width) {
        int most = style == ProgressStyle.TERMINAL ? Math.max(0, width - 1) : LONGEST;
        String line = ProgressLine.of(task, progress, Duration.ofNanos(now - began), pace.left(progress, now), most);
        return switch (style) {
            case QUIET -> "";
            case LINES -> line + "\n";
            case TERMINAL -> {
                shown = true;
                yield CLEAR + line + "\r";
            }
        };
    }

    /** What removes the line before anything else is written. */
    String clear() {
        String text = shown ? CLEAR : "";
        shown = false;
        return text;
    }
}
