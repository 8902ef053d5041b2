package io.nodekeeper.controller;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;

/**
 * How much each node's clock differs from ours, for people only: no verdict depends on it.
 *
 * <p>A renewal that a node dated {@code renewTime} arrives later by its delay and by the difference of the clocks. Delays vary
 * and are never negative, the difference hardly changes; so the least of the last renewals has the least delay in it and comes
 * closest to the difference (the minimum filter of NTP's clock filter, and of Cristian, "Probabilistic Clock
 * Synchronization", 1989). There is no way back to the node, so the least delay itself stays unknown: what is found bounds the
 * node's clock strictly from below. What a renewal took beyond the least is its lag.
 *
 * <p>The minimum is of the last 32 to 64 renewals, kept as two minima of 32 each. A renewal that undercuts it by more
 * than {@link #JUMP}, or three in a row that exceed it by that, mean that the node's clock was set; one or two that exceed it
 * were only slow. Jumps of our own clock cannot be seen here, as arrivals are measured by a {@link SteadyClock}.
 *
 * <p>Microseconds throughout. Only what a watch brought may be told: a lease that was listed or read came long after its
 * renewal. Stateless; each State belongs to one thread.
 */
final class ClockSkew {
    /** 5 s: slower renewals than that do not come three in a row, unless the API server is in trouble. Chosen. */
    static final long JUMP = 5_000_000;
    /** 1 s: what the quickest of 32 renewals takes at most, unless the API server is in trouble. Chosen. */
    static final long LEAST_DELAY = 1_000_000;

    private static final int WINDOW = 32;
    private static final int LATE_IN_A_ROW = 3;
    private static final int ENOUGH = 3;
    private static final long NONE = Long.MAX_VALUE;

    /** What is remembered of one node: 56 bytes. */
    static final class State {
        private long least = NONE;
        private long leastBefore = NONE;
        /** The least of those that were later than usual. */
        private long leastLate;

        private long lastJump;
        private short samples;
        private short late;
        private int jumps;

        private long floor() {
            return Math.min(least, leastBefore);
        }

        /** Whether enough renewals were seen to say anything. */
        boolean isKnown() {
            return leastBefore != NONE || samples >= ENOUGH;
        }

        /** How often the node's clock was set, as seen from here. */
        int jumps() {
            return jumps;
        }

        /** How far its clock was set ahead the last time; negative if back; 0 if never. */
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
     * A renewal arrived. True if it shows that the node's clock was set; {@link State#lastJump} tells by how much.
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

    /** How much longer the renewal took than the quickest one did; 0 as long as there is nothing to compare with. */
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
