package io.nodekeeper.controller.lags;

/** How late the renewals of one node are, and how wrong its clock. {@link HeartbeatLags} changes it. */
public final class LagState {
    final ClockSkew.State skew = new ClockSkew.State();
    private long micros = -1;

    /** How far the node's clock was set ahead the last time, microseconds; negative if back; 0 if never. */
    public long lastJump() {
        return skew.lastJump();
    }

    /** What the last renewal took beyond the quickest of this node, microseconds; negative if not known. */
    public long micros() {
        return micros;
    }

    void micros(long lag) {
        micros = lag;
    }
}
