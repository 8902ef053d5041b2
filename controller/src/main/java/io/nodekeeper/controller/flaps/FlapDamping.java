package io.nodekeeper.controller.flaps;

import io.nodekeeper.api.Condition;
import io.nodekeeper.controller.config.FlapDampingConfig;

/**
 * Detects flapping nodes, as RFC 2439 does with routes: a node gets penalty points each time it stops being Ready, and
 * the points decay exponentially. A node above the suppress limit is damped until its points are below the reuse limit;
 * a ceiling bounds that time. Damping never delays verdicts or new taints, but a damped node that is Ready keeps its
 * taints, and with them the running eviction times.
 *
 * <p>Times are nanoseconds of one monotonic clock, passed in. Immutable; each State belongs to one thread.
 */
final class FlapDamping {
    /** The state of one node; only a node that has stopped being Ready has one. */
    static final class State {
        private double points;
        /** When there were that many. */
        private long at;

        private boolean damped;
        private int falls;

        /**
         * How often it stopped being Ready, as seen by this controller, and by its predecessors since damping began.
         */
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

    /** The node stopped being Ready. True if its damping begins now. */
    boolean fell(State state, long now) {
        boolean wasDamped = isDamped(state, now);
        state.points = Math.min(config.ceiling(), penalty(state, now) + config.penalty());
        state.at = state.falls == 0 ? now : Math.max(state.at, now);
        state.falls = (int) Math.min(Integer.MAX_VALUE, state.falls + 1L);
        state.damped = wasDamped || state.points >= config.suppress();
        return state.damped && !wasDamped;
    }

    /** Whether the node is damped. After damping has ended, only another fall starts it again. */
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

    /**
     * The state of a node that another controller damped.
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
