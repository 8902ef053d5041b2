package io.nodekeeper.client.workqueue;

/**
 * Adapts the limit of concurrent jobs to the server's capacity, measured by the duration and the failures of calls.
 * Pure: times are monotonic nanoseconds, passed in. Not thread-safe.
 *
 * <p>Calls to a server with spare capacity take their base time; queues in the server make them slower. After each
 * window of calls the limit L becomes {@code L × g + √L}, where {@code g = 1.5 × base / mean}, at most 1 and at least
 * ½: it grows by √L while calls take less than 1.5 times the base, and settles where the queue is about half as long as
 * the number of calls in service (the gradient of Netflix' <em>concurrency-limits</em>, where √L is the tolerated
 * queue). A call that fails because of the server's state (429, 5xx, no answer) halves the limit, once for all calls
 * that were sent before (multiplicative decrease, as in TCP: RFC 5681).
 *
 * <p>The base is the lowest mean seen, separately for reads and writes, because writes wait for a disk. A permanently
 * slower path would always look like overload, so at the start and every 30 s the limit falls to its minimum for one
 * window, which measures the base again (as TCP BBR does for its round trip).
 */
final class AdaptiveLimit {
    /**
     * With a write of 10 ms, 8 jobs make 800 writes per second; with fewer, the verdicts of a mass failure would take
     * too long. A server that cannot take 8 concurrent calls is not useful.
     */
    static final int MIN = 8;
    /**
     * The concurrent calls that one API server on two cores handles without queues; the limit adapts from here within
     * some windows.
     */
    static final int START = 64;
    /**
     * Just below the 98 of its 600 seats that kube-apiserver gives to controller managers by default: what is above waits in the server.
     */
    static final int MAX = 96;

    /** Netflix' default; longer queues do not increase the throughput. */
    private static final double TOLERANCE = 1.5;
    /**
     * The calls of a window: twice the smallest limit. The mean of fewer calls varies too much, and more calls would
     * slow down the adaptation.
     */
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
    /** The most concurrent jobs in the current window. */
    private int busiest;
    /** Calls sent before this moment belong to an earlier limit. */
    private long since = UNKNOWN;

    private boolean probing;
    private long probeAt = UNKNOWN;

    /** A limit that starts at {@code start}. */
    AdaptiveLimit(int start) {
        this.min = Math.min(MIN, start);
        this.limit = start;
    }

    /** The current limit of concurrent jobs. */
    int limit() {
        return (int) (probing ? min : limit);
    }

    /** The lowest limit. */
    int min() {
        return (int) min;
    }

    /** The number of running jobs. */
    int underWay() {
        return underWay;
    }

    /** A job starts. */
    void begin() {
        underWay++;
        busiest = Math.max(busiest, underWay);
    }

    /** A job has ended. */
    void end() {
        underWay--;
    }

    /**
     * A call of a job has ended.
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
            // Else it stayed at the minimum until sixteen calls in a row succeed, which one hanging webhook can
            // prevent.
            probing = false;
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
        // An unused limit gives no information about a higher one.
        double room = busiest >= limit / 2 ? Math.sqrt(limit) : 0;
        limit = Math.clamp(limit * gradient + room, min, MAX);
    }

    /** How long the calls of this window would have taken without queues. */
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
