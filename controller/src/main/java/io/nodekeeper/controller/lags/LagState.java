package io.nodekeeper.controller.lags;

/** The lag of one node's renewals and the skew of its clock. {@link HeartbeatLags} changes it. */
public final class LagState {
    final ClockSkew.State skew = new ClockSkew.State();
    private long micros = -1;

    /** How far the node's clock was set ahead the last time, microseconds; negative if back; 0 if never. */
    public long lastJump() {
        return skew.lastJump();
    }

    /** The time of the last renewal beyond this node's fastest one, microseconds; negative if unknown. */
    public long micros() {
        return micros;
    }

    void micros(long lag) {
        micros = lag;
    }
}
