package io.nodekeeper.apiserver.watches;

/**
 * Decides how long the lines of a busy watch wait for each other, by their rate. Blocks are cheap for both sides: each one is a flush,
 * a TLS record, a packet and several thread switches, whether it has one line or twenty. A line of a calm watch does not wait, nor
 * does the first one after a pause. Times are nanoseconds of any clock that does not go back. Not thread-safe.
 */
public final class WatchPace {
    /**
     * The time between two blocks, ns: a fifth of the 100 ms within which watchers should see a change. At 1,000 leases a
     * second a block has 12 KB, so it fits into one TLS record.
     */
    public static final long BLOCK = 20_000_000;

    /** Lines that must be expected within a block; below 500 a second they do not wait. */
    private static final double FEWEST = 10;

    /** The time over which the rate is averaged, ns: ten blocks. */
    private static final double AVERAGED = 200e6;

    /** Lines per nanosecond. */
    private double rate;

    private long since;
    private long written;

    /** Starts at {@code now} with a calm watch. */
    public WatchPace(long now) {
        since = now;
        written = now - BLOCK;
    }

    /** {@code lines} arrived at {@code now}. Returns how long they wait; 0 if they are to be written at once. */
    public long arrived(int lines, long now) {
        double passed = Math.max(0, now - since);
        since = now;
        rate += (lines - rate * passed) / (passed + AVERAGED);
        return rate * BLOCK < FEWEST ? 0 : Math.max(0, written + BLOCK - now);
    }

    /** All lines that had arrived were written at {@code now}. */
    public void written(long now) {
        written = now;
    }
}
