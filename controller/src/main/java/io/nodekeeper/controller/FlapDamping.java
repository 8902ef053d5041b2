package io.nodekeeper.controller;

import io.nodekeeper.api.Condition;

/**
 * Tells nodes that flap from nodes that failed, as RFC 2439 does with routes: each fall from Ready costs points, which are
 * forgiven exponentially. Beyond the suppress limit a node is damped until they have decayed below the reuse limit; a
 * ceiling bounds how long that can take. It is about effects only: verdicts and new taints are never delayed, but a damped
 * node that is Ready keeps its taints and the eviction clocks that they started.
 *
 * <p>Times are nanoseconds of one monotonic clock, passed in. Immutable; each State belongs to one thread.
 */
final class FlapDamping {
    /** What is remembered of one node; only a node that ever fell has one. */
    static final class State {
        private double points;
        /** When there were that many. */
        private long at;

        private boolean damped;
        private int falls;

        /** How often it fell from Ready, as seen by this controller and by its predecessors since damping began. */
        int falls() {
            return falls;
        }
    }

    private static final double SECOND = 1e9;

    private final FlapDampingConfig config;

    FlapDamping(FlapDampingConfig config) {
        this.config = config;
    }

    /** Whether a change of the status of the Ready condition is a fall; {@code before} is empty if it was not seen. */
    static boolean isFall(String before, String after) {
        return before.equals(Condition.TRUE) && !after.equals(Condition.TRUE);
    }

    /** The node fell from Ready. True if its damping begins with that. */
    boolean fell(State state, long now) {
        boolean wasDamped = isDamped(state, now);
        state.points = Math.min(config.ceiling(), penalty(state, now) + config.penalty());
        state.at = state.falls == 0 ? now : Math.max(state.at, now);
        state.falls = (int) Math.min(Integer.MAX_VALUE, state.falls + 1L);
        state.damped = wasDamped || state.points >= config.suppress();
        return state.damped && !wasDamped;
    }

    /** Whether the node is damped. Once it is not any more, only another fall can change that. */
    boolean isDamped(State state, long now) {
        return state.damped && now < reuseAt(state);
    }

    /** Its points at {@code now}. */
    double penalty(State state, long now) {
        return state.falls == 0 ? 0 : config.decayed(state.points, ((double) now - state.at) / SECOND);
    }

    /** When its damping ends if it does not fall again; meaningless if it is not damped. */
    long reuseAt(State state) {
        return state.at + (long) (config.secondsToReuse(state.points) * SECOND);
    }

    /** When it last fell; meaningless if it never did. */
    long fellAt(State state) {
        return state.at;
    }

    /** Whether nothing is left to remember: it is not damped, and its next fall would count as the first. */
    boolean isForgotten(State state, long now) {
        return !isDamped(state, now) && penalty(state, now) < config.penalty() / 64;
    }

    /**
     * What is known of a node that another controller damped.
     *
     * @param points its points at {@code since}; more than the ceiling count as the ceiling
     * @param since as seen by this controller's monotonic clock; may lie before its start
     */
    State restored(double points, int falls, long since) {
        State state = new State();
        state.points = Math.min(config.ceiling(), points);
        state.at = since;
        state.falls = Math.max(1, falls);
        state.damped = true;
        return state;
    }
}
