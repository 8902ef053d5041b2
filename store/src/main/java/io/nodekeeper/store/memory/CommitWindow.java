package io.nodekeeper.store.memory;

/**
 * Decides how long batched writes wait for each other, by their rate. At a low rate they do not wait, because hardly any other
 * write would arrive in that time. Confined to the store's loop; {@link #nanos} may be read by any thread.
 *
 * <p>A group of one write costs the server three thread switches and a sync, about as much as the rest of a small write. Groups of
 * ten cost a tenth of that for each write.
 */
final class CommitWindow {
    /** The longest wait, ns: a tenth of the 100 ms within which watchers should see a renewal. */
    static final long LONGEST = 10_000_000;

    /** Writes that must be expected during the longest wait; below 400 a second they do not wait. */
    private static final double FEWEST = 4;

    /**
     * Writes in a group beyond which the cost of the group itself hardly counts. A higher rate makes the wait shorter, and a group
     * that has as many before its time starts at once.
     */
    static final int ENOUGH = 50;

    /** The time over which the rate is averaged, ns: ten windows. */
    private static final double AVERAGED = 100e6;

    /** Batched writes per nanosecond. */
    private double rate;

    private long since;
    private volatile long nanos;

    /** Starts at {@code now}, without load. */
    CommitWindow(long now) {
        since = now;
    }

    /** A group with {@code writes} batched writes started at {@code now}, nanoseconds of the loop's clock. */
    void committed(int writes, long now) {
        double passed = Math.max(0, now - since);
        since = now;
        rate += (writes - rate * passed) / (passed + AVERAGED);
        nanos = rate * LONGEST < FEWEST ? 0 : (long) Math.min(LONGEST, ENOUGH / rate);
    }

    /** How long after the start of the last group the next one starts, in nanoseconds; 0 if writes do not wait. */
    long nanos() {
        return nanos;
    }
}
