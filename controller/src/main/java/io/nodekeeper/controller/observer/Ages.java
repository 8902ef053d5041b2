package io.nodekeeper.controller.observer;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;

/** Texts of ages, for logs, events and pages. */
public final class Ages {
    private Ages() {}

    /** A span of nanoseconds as people read it, to the millisecond. */
    public static String text(long nanos) {
        return GoDuration.format(Duration.ofMillis(nanos / 1_000_000));
    }
}
