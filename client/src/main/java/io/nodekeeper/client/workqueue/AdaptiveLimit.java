package io.nodekeeper.client.workqueue;

/**
 * How many jobs may be under way at once: as many as the server can bear, found out from how long calls take and which of
 * them fail. Pure: time comes in as monotonic nanoseconds. Not thread-safe.
 *
 * <p>Calls to a server with room to spare take their base time; the more wait in its queues, the longer they take. After
 * each window of calls the limit L becomes {@code L × g + √L}, where {@code g = 1.5 × base / mean}, at most 1 and at least
 * ½: it grows by √L while calls take less than 1.5 times the base, and comes to rest where the queues are about half as
 * long as what is being served (the gradient of Netflix' <em>concurrency-limits</em>, whose √L is the queue that it puts
 * up with). A call that fails because of the server's state (429, 5xx, no answer) halves the limit, once for all calls
 * that were sent before that (multiplicative decrease, as TCP does: RFC 5681).
 *
 * <p>The base is the lowest mean seen, for reads and writes apart, as writes wait for a disk. A path that has become slower
 * for good would look like overload for ever, so at first and every 30 s the limit falls to its minimum for one window in which the
 * base is measured anew (as TCP BBR does for its round trip).
 */
final class AdaptiveLimit {
    /** With fewer a mass failure would take too long on any server. Chosen. */
    static final int MIN = 8;
    /** Chosen: what one API server on two cores bears. */
    static final int START = 64;
    /** Chosen: API servers refuse more than 400 + 200 calls at once by default. */
    static final int MAX = 512;

    /** Netflix' default: longer queues help nobody. */
    private static final double TOLERANCE = 1.5;
    /** Fewer calls make no mean. Chosen. */
    private static final int WINDOW = 16;

    private static final long PROBE_EVERY = 30_000_000_000L;
    private static final long UNKNOWN = Long.MIN_VALUE;

    /** The calls of one kind in the current window, and their base time. */
    private static final class Kind {
        private double base = Double.POSITIVE_INFINITY;
        private double sum;
        private int calls;

        private void clear() {
            sum = 0;
            calls = 0;
        }
    }

    private final double min;
    private final Kind reads = new Kind();
    private final Kind writes = new Kind();
    private double limit;
    private int underWay;
    /** The most jobs that were under way in the current window. */
    private int busiest;
    /** Calls sent before this moment tell of an earlier limit. */
    private long since = UNKNOWN;

    private boolean probing;
    private long probeAt = UNKNOWN;

    /** A limit that begins at {@code start}. */
    AdaptiveLimit(int start) {
        this.min = Math.min(MIN, start);
        this.limit = start;
    }

    /** How many jobs may be under way now. */
    int limit() {
        return (int) (probing ? min : limit);
    }

    /** How many jobs are under way. */
    int underWay() {
        return underWay;
    }

    /** A job begins. */
    void begin() {
        underWay++;
        busiest = Math.max(busiest, underWay);
    }

    /** A job is over. */
    void end() {
        underWay--;
    }

    /**
     * A call of a job is over.
     *
     * @param now when it ended
     * @param nanos how long it took
     * @param failed whether it failed because of the server's state
     */
    void measured(long now, boolean write, long nanos, boolean failed) {
        if (probeAt == UNKNOWN) {
            probe(now);
        }
        if (now - nanos < since) {
            return;
        }
        if (failed) {
            limit = Math.max(min, limit / 2);
            next(now);
            return;
        }
        Kind kind = write ? writes : reads;
        kind.sum += nanos;
        kind.calls++;
        if (reads.calls + writes.calls >= Math.max(WINDOW, limit())) {
            learn();
            next(now);
        }
    }

    private void learn() {
        double took = reads.sum + writes.sum;
        double base = base(reads) + base(writes);
        if (probing) {
            probing = false;
            return;
        }
        double gradient = took <= TOLERANCE * base ? 1 : Math.max(0.5, TOLERANCE * base / took);
        // What nobody uses says nothing about whether more could be used.
        double room = busiest >= limit / 2 ? Math.sqrt(limit) : 0;
        limit = Math.clamp(limit * gradient + room, min, MAX);
    }

    /** What the calls of this window would have taken without queues. */
    private double base(Kind kind) {
        if (kind.calls >= WINDOW / 2 && (probing || kind.sum / kind.calls < kind.base)) {
            kind.base = kind.sum / kind.calls;
        }
        return kind.base == Double.POSITIVE_INFINITY ? kind.sum : kind.calls * kind.base;
    }

    private void next(long now) {
        reads.clear();
        writes.clear();
        busiest = underWay;
        since = now;
        if (now >= probeAt) {
            probe(now);
        }
    }

    private void probe(long now) {
        probing = true;
        probeAt = now + PROBE_EVERY;
        since = now;
    }
}
