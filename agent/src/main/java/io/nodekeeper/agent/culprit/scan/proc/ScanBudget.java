package io.nodekeeper.agent.culprit.scan.proc;

import io.nodekeeper.time.Clock;
import java.time.Duration;

/**
 * What the searches of one scan may still cost, in files read and in time. When it is spent, they find nothing more, and
 * the scan ends in time with what is known. Not thread-safe.
 */
public final class ScanBudget {
    /** Each read takes about 10 microseconds. A node with 100 pods has about 6,000 open files. */
    private static final int READS = 16_000;
    /** Of it, what the search of the whole machine leaves for the questions about single processes. */
    private static final int RESERVED = 4_000;
    /** Less than half of the deadline of a scan (2 s), so that the rest of the scan can be slow, too. */
    private static final Duration TIME = Duration.ofMillis(700);
    /** Of it, what the search of the whole machine may take. */
    private static final Duration SEARCH = Duration.ofMillis(500);

    private final Clock clock;
    private long startedAt;
    private boolean started;
    private boolean cut;
    private int left = READS;

    public ScanBudget(Clock clock) {
        this.clock = clock;
    }

    /** The time, monotonic ns. */
    public long now() {
        return clock.nanoTime();
    }

    /** Whether it ended before all searches did. */
    public boolean isSpent() {
        return cut || left == 0;
    }

    /** A search did not come to its end. */
    public void cut() {
        cut = true;
    }

    /** Whether one more file may be read; counts it. The time runs from the first read. */
    public boolean spend() {
        if (left == 0 || elapsed() > TIME.toNanos()) {
            left = 0;
            return false;
        }
        left--;
        return true;
    }

    /** As {@link #spend}, for the search of the whole machine, which can go on in the next scan. */
    public boolean spendOnSearch() {
        return left > RESERVED && elapsed() <= SEARCH.toNanos() && spend();
    }

    private long elapsed() {
        long now = clock.nanoTime();
        if (!started) {
            started = true;
            startedAt = now;
        }
        return now - startedAt;
    }
}
