package io.nodekeeper.simulator.oracle;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * Records the times when a part could not work properly, and computes how much of a time span they take away. After
 * each disturbance there is a recovery time, which counts as disturbed, too; where disturbances or recoveries overlap,
 * the time counts once. Times are nanoseconds, passed in, and never go back. Not thread-safe.
 */
final class Disturbances {
    /** Disturbances remembered; a run with 60 of them an hour has fewer in two days. */
    private static final int REMEMBERED = 4096;

    /** From {@code begin} to {@code end}, recovery included. */
    private record Span(long begin, long end) {}

    private static final long NEVER = Long.MIN_VALUE;

    private final long recovery;
    /** Oldest first, without overlaps; {@link #REMEMBERED} at most. */
    private final ArrayDeque<Span> spans = new ArrayDeque<>();

    private long since = NEVER;

    Disturbances(Duration recovery) {
        this.recovery = recovery.toNanos();
    }

    /** Starts a disturbance; does nothing if one is in progress. */
    void begin(long now) {
        if (since == NEVER) {
            since = now;
        }
    }

    /** Ends the disturbance, except for the recovery; does nothing if there is none. */
    void end(long now) {
        if (since != NEVER) {
            add(new Span(since, now + recovery));
            since = NEVER;
        }
    }

    /** Records a disturbance of no length, which needs a recovery nevertheless. A disturbance in progress continues. */
    void moment(long now) {
        if (since == NEVER) {
            begin(now);
            end(now);
        }
    }

    /** Whether a disturbance or its recovery is in progress. */
    boolean isDisturbed(long now) {
        return since != NEVER || (!spans.isEmpty() && now < spans.getLast().end);
    }

    /** How much of the time from {@code from} to {@code to} was disturbed. */
    long within(long from, long to) {
        long sum = since == NEVER ? 0 : overlap(since, Long.MAX_VALUE, from, to);
        // A disturbance that has begun since may lie within the recovery of the previous one.
        long end = since == NEVER ? Long.MAX_VALUE : since;
        for (Iterator<Span> newest = spans.descendingIterator(); newest.hasNext(); ) {
            Span span = newest.next();
            if (span.end <= from) {
                break;
            }
            sum += overlap(span.begin, Math.min(span.end, end), from, to);
        }
        return sum;
    }

    /**
     * How much of that time is certainly taken away by the disturbances of at least {@code shortest}, not counting the
     * first {@code edge} of each.
     */
    long longWithin(long shortest, long edge, long from, long to) {
        long sum = since == NEVER ? 0 : certain(new Span(since, to), shortest, edge, from, to);
        for (Iterator<Span> newest = spans.descendingIterator(); newest.hasNext(); ) {
            Span span = newest.next();
            if (span.end <= from) {
                break;
            }
            sum += certain(span, shortest, edge, from, to);
        }
        return sum;
    }

    private static long certain(Span span, long shortest, long edge, long from, long to) {
        long overlap = overlap(span.begin, span.end, from, to);
        return overlap < shortest ? 0 : Math.max(0, overlap - edge);
    }

    private void add(Span span) {
        long begin = span.begin;
        if (!spans.isEmpty() && spans.getLast().end >= begin) {
            begin = spans.removeLast().begin;
        }
        spans.addLast(new Span(begin, span.end));
        if (spans.size() > REMEMBERED) {
            spans.removeFirst();
        }
    }

    private static long overlap(long begin, long end, long from, long to) {
        return Math.max(0, Math.min(end, to) - Math.max(begin, from));
    }
}
