package io.nodekeeper.agent.heartbeat;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * Decides when a status is reported: immediately if it changed, otherwise after the report period. The wait after a
 * change is 50 to 150 % of the period (Kubernetes 1.34), so fleets that start together spread out. Not thread-safe.
 */
final class ReportRule {
    private final Duration period;
    private OptionalLong reportedAt = OptionalLong.empty();
    private long delayNanos;

    ReportRule(Duration period) {
        this.period = period;
    }

    /** Whether a report is due at {@code nowNanos}, by the monotonic clock. The first one always is. */
    boolean due(boolean changed, long nowNanos) {
        return changed || reportedAt.isEmpty() || nowNanos - reportedAt.getAsLong() >= period.toNanos() + delayNanos;
    }

    /** Records that a report is about to be sent; {@code random} is uniform in [0, 1). */
    void sending(boolean changed, double random) {
        delayNanos = changed || reportedAt.isEmpty() ? (long) (period.toNanos() * (random - 0.5)) : 0;
    }

    /** Records that a report was accepted. */
    void reported(long nowNanos) {
        reportedAt = OptionalLong.of(nowNanos);
    }
}
