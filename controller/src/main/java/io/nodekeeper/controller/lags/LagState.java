package io.nodekeeper.controller.lags;

import java.time.Duration;

/** The lag of one node's renewals and the skew of its clock. {@link HeartbeatLags} changes it. */
public final class LagState {
    /** A node whose clock jumps with each renewal must not fill the log and the history. */
    private static final long BETWEEN_REPORTS = Duration.ofMinutes(1).toNanos();

    final ClockSkew.State skew = new ClockSkew.State();
    private long micros = -1;
    private long reportedAt;
    /** How many jumps there were at the last report; 0 if none was reported. */
    private int reported;
    /** How many jumps the last report was about. */
    private int inReport;

    /** How far the node's clock was set ahead the last time, microseconds; negative if back; 0 if never. */
    public long lastJump() {
        return skew.lastJump();
    }

    /** How often the clock was set between the last two reports of that. */
    public int reportedJumps() {
        return inReport;
    }

    /** The time of the last renewal beyond this node's fastest one, microseconds; negative if unknown. */
    public long micros() {
        return micros;
    }

    void micros(long lag) {
        micros = lag;
    }

    /** The clock was set once more: whether that is to be reported now, which it is once in a minute. */
    boolean reports(long now) {
        if (reported != 0 && now - reportedAt < BETWEEN_REPORTS) {
            return false;
        }
        inReport = skew.jumps() - reported;
        reported = skew.jumps();
        reportedAt = now;
        return true;
    }
}
