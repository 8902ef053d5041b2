package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.time.Clock;
import java.time.Duration;

/**
 * What the searches of one scan may still cost, in files read and in time. When it is spent, they find nothing more, and
 * the scan ends in time with what is known. Not thread-safe.
 */
final class ScanBudget {
    /** Each read takes about 10 microseconds. A node with 100 pods has about 6,000 open files. */
    private static final int READS = 8_000;
    /** Less than half of the deadline of a scan (2 s), so that the rest of the scan can be slow, too. */
    private static final Duration TIME = Duration.ofMillis(700);

    private final Clock clock;
    private long startedAt;
    private boolean started;
    private int left = READS;

    ScanBudget(Clock clock) {
        this.clock = clock;
    }

    /** Whether it ended before all searches did. */
    boolean isSpent() {
        return left == 0;
    }

    /** Whether one more file may be read; counts it. The time runs from the first read. */
    boolean spend() {
        if (!started) {
            started = true;
            startedAt = clock.nanoTime();
        }
        if (left == 0 || clock.nanoTime() - startedAt > TIME.toNanos()) {
            left = 0;
            return false;
        }
        left--;
        return true;
    }
}
