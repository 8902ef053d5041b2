package io.nodekeeper.controller;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;

/** Texts of ages, for logs, events and pages. */
final class Ages {
    private Ages() {}

    /** A span of nanoseconds as people read it, to the millisecond. */
    static String text(long nanos) {
        return GoDuration.format(Duration.ofMillis(nanos / 1_000_000));
    }
}
