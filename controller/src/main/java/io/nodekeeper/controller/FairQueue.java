package io.nodekeeper.controller;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The nodes of a zone that wait for a NoExecute taint, first come first served, and how many a second may have one. A
 * token is taken only together with a node, and comes back if the node turns out to need no taint. A change of the rate
 * keeps what was saved up, one token at most. Time is nanoseconds, passed in. Pure; not thread-safe.
 *
 * @param <T> what waits
 */
final class FairQueue<T> {
    /** What {@link #nextAt} answers when there is nothing to wait for. */
    static final long NEVER = Long.MAX_VALUE;

    /** Sums of fractions of a token may miss one by as much. */
    private static final double ROUNDING = 1e-9;

    /**
     * A place in the queue.
     *
     * @param since when the node was first seen not ready, monotonic
     * @param transition the same as the node's own condition has it, seconds since 1970: it keeps the order of those
     *     that a start found not ready all at once
     * @param name tells the others apart
     */
    record Place(long since, long transition, String name) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            int bySince = Long.compare(since, other.since);
            int byTime = bySince != 0 ? bySince : Long.compare(transition, other.transition);
            return byTime != 0 ? byTime : name.compareTo(other.name);
        }
    }

    private final TreeMap<Place, T> waiting = new TreeMap<>();
    private float rate;
    private double tokens = 1;
    private long filledAt;

    /** An empty queue with one token. */
    FairQueue(float rate, long now) {
        this.rate = rate;
        this.filledAt = now;
    }

    /** Lets {@code item} wait at its place. */
    void add(Place place, T item) {
        waiting.put(place, item);
    }

    /** Whoever is at that place does not wait any more. */
    void remove(Place place) {
        waiting.remove(place);
    }

    /** How many wait. */
    int size() {
        return waiting.size();
    }

    /** How many a second may go from now on. */
    void rate(float perSecond, long now) {
        fill(now);
        rate = perSecond;
    }

    /** How many a second may go. */
    float rate() {
        return rate;
    }

    /** The first that waits, if one may go now; it has left the queue and the token is spent then. */
    Optional<T> next(long now) {
        fill(now);
        if (rate <= 0 || tokens < 1 - ROUNDING || waiting.isEmpty()) {
            return Optional.empty();
        }
        tokens = Math.max(0, tokens - 1);
        return Optional.of(waiting.pollFirstEntry()).map(Map.Entry::getValue);
    }

    /** The token of one that needed none. */
    void giveBack() {
        tokens = 1;
    }

    /** When {@link #next} may have an answer. */
    long nextAt(long now) {
        if (rate <= 0 || waiting.isEmpty()) {
            return NEVER;
        }
        fill(now);
        return now + (long) Math.ceil(Math.max(0, 1 - tokens) / rate * 1e9);
    }

    private void fill(long now) {
        tokens = Math.min(1, tokens + (now - filledAt) * (rate / 1e9));
        filledAt = now;
    }
}
