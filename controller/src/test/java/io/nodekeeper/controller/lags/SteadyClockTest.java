package io.nodekeeper.controller.lags;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A clock that is set once: 5 s of the monotonic clock is 1,000 s of the wall clock. */
class SteadyClockTest {
    private final SteadyClock clock = new SteadyClock(5_000_000_000L, 1_000_000_000L);

    @Test
    void runsByTheMonotonicClockAndRoundsDown() {
        assertThat(clock.micros(5_000_000_000L)).isEqualTo(1_000_000_000L);
        assertThat(clock.micros(7_000_001_999L)).isEqualTo(1_002_000_001L);
        assertThat(clock.micros(4_999_999_999L)).isEqualTo(999_999_999L);
    }

    @Test
    void halfASecondBetweenTwoChecksIsAJumpAndLessIsSlewing() {
        assertThat(clock.check(6_000_000_000L, 1_001_499_999L)).isZero();
        assertThat(clock.shift()).isEqualTo(499_999);

        assertThat(clock.check(7_000_000_000L, 1_002_999_999L)).isEqualTo(500_000);
        assertThat(clock.shift()).isEqualTo(999_999);
        assertThat(clock.check(8_000_000_000L, 1_003_999_999L)).isZero();
    }

    @Test
    void jumpBackIsNegative() {
        assertThat(clock.check(6_000_000_000L, 998_000_000L)).isEqualTo(-3_000_000);
        assertThat(clock.shift()).isEqualTo(-3_000_000);
    }
}
