package io.nodekeeper.simulator.oracle;

import io.nodekeeper.controller.config.FlapDampingConfig;

/**
 * Computes whether a node may be damped for flapping, by the rule of RFC 2439 and from what the API shows: each loss of
 * Ready costs points, which halve each half-life. The controller may have missed a loss, but cannot have seen one that
 * did not happen, so this is an upper bound of its points. Times are nanoseconds, passed in. Not thread-safe.
 */
final class FlapModel {
    private final FlapDampingConfig config;
    private final double halfLifeNanos;
    private final double ceiling;
    private double points;
    private long at;
    private boolean fell;
    private boolean damped;

    FlapModel(FlapDampingConfig config) {
        this.config = config;
        this.halfLifeNanos = config.halfLife().toNanos();
        this.ceiling = config.reuse() * Math.pow(2, config.maxSuppress().toNanos() / halfLifeNanos);
    }

    /** The node lost Ready. */
    void fell(long now) {
        boolean before = isDamped(now);
        points = Math.min(ceiling, points(now) + config.penalty());
        at = now;
        fell = true;
        damped = before || points >= config.suppress();
    }

    /** Whether the node is damped by its points. */
    boolean isDamped(long now) {
        return damped && points(now) > config.reuse();
    }

    /**
     * Whether a controller may still treat it as damped: one that saw a loss late, or took over, may lag.
     *
     * @param behind the largest lag, nanoseconds
     */
    boolean mayBeDamped(long now, long behind) {
        return isDamped(now - behind);
    }

    /** The time of its last loss of Ready; the beginning of time if there was none. */
    long fellAt() {
        return at;
    }

    private double points(long now) {
        return fell ? points * Math.pow(2, -Math.max(0, now - at) / halfLifeNanos) : 0;
    }
}
