package io.nodekeeper.apiserver.watches;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How long the lines of a watch wait for each other. */
class WatchPaceTest {
    private static final long MILLI = 1_000_000;

    private final WatchPace pace = new WatchPace(0);
    private long now;
    private int blocks;
    private long longest;
    /** When the waiting lines are to be written, and when the first of them arrived; -1 if none waits. */
    private long due = -1;

    private long first;

    /** {@code lines} arrive every {@code every} milliseconds, for {@code millis}. */
    private void load(int lines, int every, int millis) {
        for (long end = now + millis * MILLI; now < end; now += every * MILLI) {
            if (due >= 0 && due <= now) {
                write(due);
            }
            long wait = pace.arrived(lines, now);
            first = due < 0 ? now : first;
            due = due < 0 ? now + wait : due;
            if (wait == 0) {
                write(now);
            }
        }
    }

    private void write(long at) {
        longest = Math.max(longest, at - first);
        pace.written(at);
        blocks++;
        due = -1;
    }

    @Test
    void linesOfACalmWatchDoNotWait() {
        load(1, 3, 3_000);
        assertThat(blocks).isEqualTo(1_000);
        assertThat(longest).isZero();
    }

    @Test
    void aThousandChangesASecondAreFiftyBlocks() {
        load(1, 1, 1_000);
        blocks = 0;
        load(1, 1, 1_000);
        assertThat(blocks).isEqualTo(50);
    }

    @Test
    void groupsOfTenEachTenMillisecondsAreFiftyBlocks() {
        load(10, 10, 1_000);
        blocks = 0;
        load(10, 10, 1_000);
        assertThat(blocks).isEqualTo(50);
    }

    @Test
    void noLineWaitsLongerThanABlock() {
        load(1, 1, 3_000);
        assertThat(longest).isLessThanOrEqualTo(20 * MILLI);
    }

    @Test
    void firstLineAfterAPauseDoesNotWait() {
        load(1, 1, 1_000);
        write(now);
        now += 20 * MILLI;
        assertThat(pace.arrived(1, now)).isZero();
    }

    @Test
    void watchIsCalmSoonAfterALoad() {
        load(1, 1, 1_000);
        now += 300 * MILLI;
        assertThat(pace.arrived(1, now)).isZero();
        pace.written(now);
        assertThat(pace.arrived(1, now + MILLI)).isZero();
    }
}
