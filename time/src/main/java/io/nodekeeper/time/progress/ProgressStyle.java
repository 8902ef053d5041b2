package io.nodekeeper.time.progress;

import java.time.Duration;

/** Where progress is shown, and how often. */
public enum ProgressStyle {
    /** Nowhere. */
    QUIET(Duration.ofSeconds(10)),
    /** In a file or a pipe: a line every 10 s, 360 an hour. */
    LINES(Duration.ofSeconds(10)),
    /** On a terminal: one line, rewritten five times a second, which looks continuous. */
    TERMINAL(Duration.ofMillis(200));

    private final Duration period;

    ProgressStyle(Duration period) {
        this.period = period;
    }

    Duration period() {
        return period;
    }
}
