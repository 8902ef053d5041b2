package io.nodekeeper.controller;

import java.time.Duration;

/**
 * How long each node may be silent before that is unusual for it, learned from the gaps between its own signs of life.
 *
 * <p>The next sign is expected as in Chen, Toueg and Aguilera, "On the Quality of Service of Failure Detectors" (2002): one
 * mean gap after the last one. Silence beyond that by a safety margin arouses suspicion:
 *
 * <pre>  patience = mean + max(3/4 · mean, 5 · standard deviation)</pre>
 *
 * The first term forgives a regular node one short pause; the second grows with a node's unsteadiness. Five deviations need
 * no assumption on how gaps are distributed: by Cantelli's inequality, which the paper uses where nothing is known, no
 * distribution exceeds them more often than once in 26 times, and a steady one practically never. Mean and variance are
 * plain averages over the first 64 gaps and fade exponentially after that (West's update), so a node costs two floats.
 * A gap counts as twice the patience at most, so that one long outage does not make a node unsuspicious for the next hour,
 * while a longer period is still learned within a few renewals.
 *
 * <p>Expected arrivals are counted from the last one, not from a regular beat as in the paper's NFD-E: agents wait a full
 * period after each renewal, so their lateness adds up and a beat would be lost. The numbers behind the choice are in
 * docs/decisions/0007-adaptive-suspicion.md.
 *
 * <p>Time is nanoseconds of the time in which the controller could see, passed in: it must stand still while it is blind.
 * One kind of signal should be told of a node, as two regular ones look irregular together. Immutable; each State belongs
 * to one thread.
 */
final class Suspicion {
    /** Chosen by experiment, see docs/decisions/0007. */
    private static final float DEVIATIONS = 5;
    /** See {@link #DEVIATIONS}. */
    private static final float LEAST_MARGIN = 0.75f;
    /** In gaps, about 11 min of renewals at 10 s. See {@link #DEVIATIONS}. */
    private static final int MEMORY = 64;
    /** Gaps that have to be known before anything is said about a node. Chosen: 80 s at 10 s. */
    private static final int WARM_UP = 8;

    /** Seconds: shorter silences are the pauses of any network or collector, however often a node is heard of. Chosen. */
    private static final float LEAST_PATIENCE = 2;

    private static final long NEVER = Long.MIN_VALUE;
    /** Seconds: what a gap counts at most, even before the node's own are known: longer than any grace in use, harmless when squared. */
    private static final float LONGEST_GAP = 86_400;

    /** What is remembered of one node: 32 bytes. */
    static final class State {
        /** When it was last heard of; {@link #NEVER} if the next sign ends no gap. */
        private long heardAt = NEVER;
        /** Seconds. */
        private float mean;
        /** Square seconds. */
        private float variance;
        /** How many gaps are in it, up to {@link #MEMORY}. */
        private int gaps;

        /** Whether enough is known of the node to say what is usual for it. */
        boolean isWarm() {
            return gaps >= WARM_UP;
        }

        /** The usual gap, seconds; 0 before there was any. */
        double meanGap() {
            return mean;
        }
    }

    private final long grace;
    private final long min;
    private final long max;

    /** {@code grace} is the silence after which the fixed detector gives its verdict: suspicion is of no use later. */
    Suspicion(DetectorConfig config, Duration grace) {
        this.grace = grace.toNanos();
        this.min = config.min().toNanos();
        this.max = config.max().toNanos();
    }

    /** A sign of life at {@code now}; one before the last counts as one at the same moment. */
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

    /** The node was away for a reason, such as a reboot: the time until its next sign is no usual gap. */
    void interrupted(State state) {
        state.heardAt = NEVER;
    }

    /** How long a silence is not unusual for the node, nanoseconds; the grace if too little is known or that is less. */
    long patience(State state) {
        return state.isWarm() ? Math.min(grace, nanos(usual(state))) : grace;
    }

    /** When its silence becomes unusual if it is not heard of again; {@link Long#MAX_VALUE} if it was not heard of yet. */
    long suspectAt(State state) {
        long at = state.heardAt + patience(state);
        return state.heardAt == NEVER || at < state.heardAt ? Long.MAX_VALUE : at;
    }

    /**
     * The silence after which an adaptive detector gives its verdict: twice what arouses suspicion, within the bounds, so
     * that the warning comes well before it; the upper bound while too little is known. Nanoseconds.
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
