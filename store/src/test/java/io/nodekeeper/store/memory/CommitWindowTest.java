package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How long batched writes wait for each other. */
class CommitWindowTest {
    private static final long MILLI = 1_000_000;

    private final CommitWindow window = new CommitWindow(0);
    private long now;

    /** Groups as large as their interval and the rate make them, for {@code millis}. */
    private void load(int perSecond, int millis) {
        double arrived = 0;
        for (long end = now + millis * MILLI; now < end; ) {
            long interval = Math.max(MILLI, window.nanos());
            now += interval;
            arrived += perSecond * (interval / 1e9);
            int group = (int) arrived;
            arrived -= group;
            if (group > 0) {
                window.committed(group, now);
            }
        }
    }

    @Test
    void loneWriteDoesNotWait() {
        assertThat(window.nanos()).isZero();
        now = 3_000 * MILLI;
        window.committed(1, now);
        assertThat(window.nanos()).isZero();
    }

    @Test
    void writesOfALowRateDoNotWait() {
        load(350, 2_000);
        assertThat(window.nanos()).isZero();
    }

    @Test
    void writesOfTenThousandNodesWaitTenMilliseconds() {
        load(1_000, 2_000);
        assertThat(window.nanos()).isEqualTo(10 * MILLI);
    }

    @Test
    void waitIsShorterWhenFewerMillisecondsGatherEnough() {
        load(20_000, 2_000);
        assertThat(window.nanos()).isBetween(2 * MILLI, 3 * MILLI);
    }

    @Test
    void waitEndsSoonAfterTheLoad() {
        load(1_000, 2_000);
        load(100, 500);
        assertThat(window.nanos()).isZero();
    }

    @Test
    void burstOfSomeWritesIsNoLoad() {
        for (int i = 0; i < 20; i++) {
            window.committed(1, now += MILLI);
        }
        assertThat(window.nanos()).isZero();
    }
}
