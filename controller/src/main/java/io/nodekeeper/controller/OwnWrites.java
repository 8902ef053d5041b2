package io.nodekeeper.controller;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * When this process sent the writes to leases that it makes beside its canary, such as those of its leadership. Only those
 * count that were acknowledged within the tolerance: beside a write that took longer the nodes' renewals were held up, too.
 * Times are nanoseconds by the controller's monotonic clock, passed in. Not thread-safe.
 */
final class OwnWrites {
    /** Writes that are remembered: at Kubernetes' 2 s between renewals of a leadership, those of 8 minutes. */
    private static final int REMEMBERED = 256;

    private final long tolerance;
    /** When each was sent, ascending; {@link #REMEMBERED} at most. */
    private final ArrayDeque<Long> sent = new ArrayDeque<>();

    private long period;

    /** {@code tolerance} is how long a write may take, nanoseconds. */
    OwnWrites(long tolerance) {
        this.tolerance = tolerance;
    }

    /**
     * A lease was written.
     *
     * @param sentAt when the write was sent
     * @param acknowledgedAt when its success was known
     * @param period the usual time from one such write to the next, nanoseconds
     */
    void acknowledged(long sentAt, long acknowledgedAt, long period) {
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

    /** Those that were sent no later than {@code moment}, ascending; they are forgotten. */
    List<Long> takeUntil(long moment) {
        List<Long> taken = new ArrayList<>();
        while (!sent.isEmpty() && sent.getFirst() <= moment) {
            taken.add(sent.removeFirst());
        }
        return taken;
    }

    /** The usual time from one write to the next, nanoseconds. */
    long period() {
        return period;
    }

    /** How many writes are remembered. */
    int size() {
        return sent.size();
    }
}
