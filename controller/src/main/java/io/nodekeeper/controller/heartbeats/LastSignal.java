package io.nodekeeper.controller.heartbeats;

/** The last sign of life of one node. Times are nanoseconds. {@link Heartbeats} changes it. */
final class LastSignal {
    private Signal kind = Signal.FIRST_SIGHT;
    private long heardAt;
    private long arrivedAt;
    private long lostBefore;
    private long gap;
    private boolean silenced;

    /** Where it was seen. */
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

    /** What had been taken out of the nodes' clock until then. */
    long lostBefore() {
        return lostBefore;
    }

    /** How long after the sign before it came, on the nodes' clock. */
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
