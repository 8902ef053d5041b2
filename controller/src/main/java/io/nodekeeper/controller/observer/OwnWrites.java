package io.nodekeeper.controller.observer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Remembers when this process sent writes to leases other than its canary, such as the lease of its leadership. Only
 * writes acknowledged within the tolerance count: a slower write means that the nodes' renewals were delayed, too.
 * Times are nanoseconds by the controller's monotonic clock, passed in. Not thread-safe.
 */
public final class OwnWrites {
    /** The most remembered writes: 8 minutes at Kubernetes' 2 s between renewals of a leadership. */
    private static final int REMEMBERED = 256;

    private final long tolerance;
    /** When each write was sent, ascending; at most {@link #REMEMBERED}. */
    private final ArrayDeque<Long> sent = new ArrayDeque<>();

    private long period;

    /** {@code tolerance} is how long a write may take, nanoseconds. */
    public OwnWrites(long tolerance) {
        this.tolerance = tolerance;
    }

    /**
     * A lease was written.
     *
     * @param sentAt when the write was sent
     * @param acknowledgedAt when its success was known
     * @param period the usual time from one such write to the next, nanoseconds
     */
    public void acknowledged(long sentAt, long acknowledgedAt, long period) {
        this.period = period;
        boolean late = acknowledgedAt - sentAt > tolerance;
        if (late || !sent.isEmpty() && sentAt <= sent.getLast()) {
            return;
        }
        sent.addLast(sentAt);
        if (sent.size() > REMEMBERED) {
            sent.removeFirst();
        }
    }

    /** Removes and returns the writes sent no later than {@code moment}, ascending. */
    public List<Long> takeUntil(long moment) {
        List<Long> taken = new ArrayList<>();
        while (!sent.isEmpty() && sent.getFirst() <= moment) {
            taken.add(sent.removeFirst());
        }
        return taken;
    }

    /** The usual time from one write to the next, nanoseconds. */
    public long period() {
        return period;
    }

    /** The number of remembered writes. */
    public int size() {
        return sent.size();
    }
}
