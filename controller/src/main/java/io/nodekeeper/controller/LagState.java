package io.nodekeeper.controller;

/** How late the renewals of one node are, and how wrong its clock. {@link HeartbeatLags} changes it. */
final class LagState {
    final ClockSkew.State skew = new ClockSkew.State();
    private long micros = -1;

    /** What the last renewal took beyond the quickest of this node, microseconds; negative if not known. */
    long micros() {
        return micros;
    }

    void micros(long lag) {
        micros = lag;
    }
}
