package io.nodekeeper.controller.heartbeats;

/** The last heartbeat of one node. Times are nanoseconds. {@link Heartbeats} changes it. */
final class LastSignal {
    private Signal kind = Signal.FIRST_SIGHT;
    private long heardAt;
    private long arrivedAt;
    private long lostBefore;
    private long gap;
    private boolean silenced;

    /** The kind of the heartbeat. */
    Signal kind() {
        return kind;
    }

    /** When it was seen, on the nodes' clock, which stands still while the controller is blind. */
    long heardAt() {
        return heardAt;
    }

    /** The same by the controller's monotonic clock. */
    long arrivedAt() {
        return arrivedAt;
    }

    /** The total time that was subtracted from the nodes' clock before it. */
    long lostBefore() {
        return lostBefore;
    }

    /** The time since the heartbeat before it, on the nodes' clock. */
    long gap() {
        return gap;
    }

    /** Whether this controller declared the node Unknown after it. */
    boolean silenced() {
        return silenced;
    }

    void set(Signal newKind, long newHeardAt, long now, long lost) {
        kind = newKind;
        gap = newHeardAt - heardAt;
        heardAt = newHeardAt;
        arrivedAt = now;
        lostBefore = lost;
        silenced = false;
    }

    void silence() {
        silenced = true;
    }
}
