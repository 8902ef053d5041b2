package io.nodekeeper.controller.lags;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;

/**
 * Estimates how much each node's clock differs from ours, for people only: no verdict depends on it.
 *
 * <p>A renewal that a node dated {@code renewTime} arrives later by its delay and by the difference of the clocks.
 * Delays vary and are never negative, while the difference hardly changes. The smallest value of the last renewals
 * therefore has the smallest delay and is closest to the difference (the minimum filter of NTP's clock filter, and of
 * Cristian, "Probabilistic Clock Synchronization", 1989). The smallest delay itself is unknown, as no message returns
 * to the node: the result is a strict lower bound of the node's clock. The lag of a renewal is its delay beyond the
 * smallest.
 *
 * <p>The minimum is of the last 32 to 64 renewals, kept as two minima of 32 each. A renewal that is below it by more
 * than {@link #JUMP}, or three in a row that are above it by that, mean that the node's clock was set; one or two above
 * it were only slow. Jumps of our own clock have no effect, because a {@link SteadyClock} measures arrivals.
 *
 * <p>Microseconds throughout. Only renewals from a watch may be passed in: a lease that was listed or read arrives long
 * after its renewal. Stateless; each State belongs to one thread.
 */
final class ClockSkew {
    /**
     * 5 s: half of the usual renewal period. Three renewals in a row are that slow only if the API server is in
     * trouble. A smaller value would report slow writes as clock changes, a larger one would miss more changes.
     */
    static final long JUMP = 5_000_000;
    /**
     * 1 s: the fastest of 32 renewals takes some milliseconds, and longer than this only if the API server is in
     * trouble. It widens the reported range by as much.
     */
    static final long LEAST_DELAY = 1_000_000;

    private static final int WINDOW = 32;
    private static final int LATE_IN_A_ROW = 3;
    private static final int ENOUGH = 3;
    private static final long NONE = Long.MAX_VALUE;

    /** The state of one node: 56 bytes. */
    static final class State {
        private long least = NONE;
        private long leastBefore = NONE;
        /** The smallest of those that were later than usual. */
        private long leastLate;

        private long lastJump;
        private short samples;
        private short late;
        private int jumps;

        private long floor() {
            return Math.min(least, leastBefore);
        }

        /** Whether there were enough renewals for an estimate. */
        boolean isKnown() {
            return leastBefore != NONE || samples >= ENOUGH;
        }

        /** How often the node's clock was set, as far as renewals show. */
        int jumps() {
            return jumps;
        }

        /** How far its clock was last set forward; negative if back; 0 if never. */
        long lastJump() {
            return lastJump;
        }
    }

    /**
     * The difference of two clocks.
     *
     * @param atLeast how far the node's clock is ahead of the controller's at least; negative if it may be behind
     * @param atMost the same at most, as long as one in 32 renewals takes no longer than {@link #LEAST_DELAY}
     */
    record Skew(long atLeast, long atMost) {
        /** What a duration in Go's form can say: 292 years. */
        private static final long LONGEST_MILLIS = Long.MAX_VALUE / 1_000_000;

        /** For people, such as {@code clock ahead by 2h0m0s to 2h0m1s}. */
        String text() {
            if (atLeast <= 0 && atMost >= 0) {
                return "clock agrees within " + format(atMost - atLeast);
            }
            return atLeast > 0
                    ? "clock ahead by " + format(atLeast) + " to " + format(atMost)
                    : "clock behind by " + format(-atMost) + " to " + format(-atLeast);
        }

        private static String format(long micros) {
            return GoDuration.format(Duration.ofMillis(Math.min(LONGEST_MILLIS, micros / 1_000)));
        }
    }

    private ClockSkew() {}

    /**
     * Records the arrival of a renewal. True if it shows that the node's clock was set; {@link State#lastJump} has the
     * amount.
     *
     * @param renewed its {@code renewTime}
     * @param arrived by the {@link SteadyClock}
     */
    static boolean heard(State state, long renewed, long arrived) {
        long sample = arrived - renewed;
        long floor = state.floor();
        if (!state.isKnown() || Math.abs(sample - floor) <= JUMP) {
            state.late = 0;
            add(state, sample);
            return false;
        }
        if (sample < floor) {
            set(state, floor, sample);
            return true;
        }
        state.leastLate = state.late == 0 ? sample : Math.min(state.leastLate, sample);
        if (++state.late < LATE_IN_A_ROW) {
            return false;
        }
        set(state, floor, state.leastLate);
        return true;
    }

    /** How much longer the renewal took than the fastest one; 0 as long as there is none to compare with. */
    static long lag(State state, long renewed, long arrived) {
        return state.isKnown() ? Math.max(0, arrived - renewed - state.floor()) : 0;
    }

    /** The skew of a known node against the wall clock, which is {@code shift} ahead of the {@link SteadyClock}. */
    static Skew skew(State state, long shift) {
        long atLeast = -state.floor() - shift;
        return new Skew(atLeast, atLeast + LEAST_DELAY);
    }

    private static void add(State state, long sample) {
        if (state.samples == WINDOW) {
            state.leastBefore = state.least;
            state.least = NONE;
            state.samples = 0;
        }
        state.least = Math.min(state.least, sample);
        state.samples++;
    }

    private static void set(State state, long from, long to) {
        state.lastJump = from - to;
        state.jumps++;
        state.late = 0;
        state.least = to;
        state.leastBefore = NONE;
        state.samples = ENOUGH;
    }
}
