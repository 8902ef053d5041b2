package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.controller.config.DetectorConfig;
import java.time.Duration;

/**
 * Determines how long a node may go without a heartbeat before that is unusual for it, from the gaps between its
 * earlier heartbeats.
 *
 * <p>The next heartbeat is expected as in Chen, Toueg and Aguilera, "On the Quality of Service of Failure Detectors"
 * (2002): one mean gap after the last one. A node that is later than that by a safety margin is suspect:
 *
 * <pre>  patience = mean + max(3/4 · mean, 5 · standard deviation)</pre>
 *
 * The first term allows a regular node one short pause; the second grows with the irregularity of its gaps. Five
 * deviations need no assumption about the distribution of gaps: by Cantelli's inequality, which the paper uses for
 * unknown distributions, no distribution exceeds them more often than once in 26 times, and a steady one practically
 * never. Mean and variance are plain averages over the first 64 gaps and fade exponentially after that (West's update),
 * so a node costs two floats. A gap counts as at most twice the patience, so that one long outage does not hide the
 * node's delays for the next hour, while a longer period is still learned within a few renewals.
 *
 * <p>An expected arrival is counted from the last one, not from a regular schedule as in the paper's NFD-E: agents wait
 * a full period after each renewal, so delays add up and a schedule would drift.
 * docs/decisions/0007-adaptive-suspicion.md has the measurements.
 *
 * <p>Time is nanoseconds, passed in, of a clock that stops while the controller is blind. Pass only one kind of
 * heartbeat of a node, because two regular ones look irregular together. Immutable; each State belongs to one thread.
 */
final class Suspicion {
    /** Found by experiment, see docs/decisions/0007. */
    private static final float DEVIATIONS = 5;
    /** See {@link #DEVIATIONS}. */
    private static final float LEAST_MARGIN = 0.75f;
    /** In gaps, about 11 min of renewals at 10 s. See {@link #DEVIATIONS}. */
    private static final int MEMORY = 64;
    /**
     * The gaps that are needed before a node can be suspect: 80 s at a period of 10 s. With fewer, mean and deviation
     * would be guesses; more would only delay the first warning.
     */
    private static final int WARM_UP = 8;

    /**
     * In seconds. Shorter pauses are normal for networks and garbage collectors, however short a node's period is;
     * three canary periods of 1 s would otherwise cause suspicion.
     */
    private static final float LEAST_PATIENCE = 2;

    private static final long NEVER = Long.MIN_VALUE;
    /**
     * In seconds: the longest gap that counts, also before the node's own gaps are known. It is longer than any grace
     * period in use, and its square does not overflow.
     */
    private static final float LONGEST_GAP = 86_400;

    /** The state of one node: 32 bytes. */
    static final class State {
        /** The last heartbeat; {@link #NEVER} if the next heartbeat ends no gap. */
        private long heardAt = NEVER;
        /** Seconds. */
        private float mean;
        /** Square seconds. */
        private float variance;
        /** The number of gaps in mean and variance, up to {@link #MEMORY}. */
        private int gaps;

        /** Whether there are enough gaps to judge the node. */
        boolean isWarm() {
            return gaps >= WARM_UP;
        }

        /** The mean gap, seconds; 0 before the first gap. */
        double meanGap() {
            return mean;
        }
    }

    private final long grace;
    private final long min;
    private final long max;

    /** {@code grace} is the fixed detector's grace period; a later suspicion would be useless. */
    Suspicion(DetectorConfig config, Duration grace) {
        this.grace = Math.min(Heartbeats.MAX_GRACE, grace.toNanos());
        this.min = Math.min(Heartbeats.MAX_GRACE, config.min().toNanos());
        this.max = Math.min(Heartbeats.MAX_GRACE, config.max().toNanos());
    }

    /** Records a heartbeat at {@code now}; an earlier time than the last one counts as the same time. */
    void heard(State state, long now) {
        if (state.heardAt == NEVER) {
            state.heardAt = now;
            return;
        }
        // The difference of two doubles cannot overflow.
        float gap = (float) (Math.max(0.0, (double) now - state.heardAt) / 1e9);
        state.heardAt = Math.max(state.heardAt, now);
        float limit = state.isWarm() ? 2 * usual(state) : LONGEST_GAP;
        learn(state, Math.min(gap, Math.min(limit, LONGEST_GAP)));
    }

    /**
     * The node was away for a known reason, such as a reboot: the time until its next heartbeat does not count as a
     * gap.
     */
    void interrupted(State state) {
        state.heardAt = NEVER;
    }

    /**
     * How long the node may go without a heartbeat before that is unusual, nanoseconds; at most the grace period, and
     * the grace period if there are too few gaps.
     */
    long patience(State state) {
        return state.isWarm() ? Math.min(grace, nanos(usual(state))) : grace;
    }

    /**
     * The grace period of the adaptive detector, nanoseconds: twice the patience, within the bounds, so that the
     * warning comes well before the verdict; the upper bound while there are too few gaps.
     */
    long adaptiveGrace(State state) {
        return state.isWarm() ? Math.clamp(nanos(2 * usual(state)), min, max) : max;
    }

    private static float usual(State state) {
        float margin = Math.max(LEAST_MARGIN * state.mean, DEVIATIONS * (float) Math.sqrt(state.variance));
        return Math.max(LEAST_PATIENCE, state.mean + margin);
    }

    private static void learn(State state, float gap) {
        state.gaps = Math.min(state.gaps + 1, MEMORY);
        float weight = 1f / state.gaps;
        float difference = gap - state.mean;
        state.mean += weight * difference;
        state.variance = (1 - weight) * (state.variance + weight * difference * difference);
    }

    private static long nanos(float seconds) {
        return (long) (seconds * 1e9);
    }
}
