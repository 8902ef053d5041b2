package io.nodekeeper.controller.zones;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A rate-limited FIFO queue: the nodes of a zone that wait for a NoExecute taint. Taking a node takes a token, which is
 * returned if the node needs no taint. A change of the rate keeps the saved token, of which there is at most one. Times
 * are nanoseconds, passed in. Pure; not thread-safe.
 *
 * @param <T> what waits
 */
final class FairQueue<T> {
    /** The result of {@link #nextAt} if nothing waits. */
    static final long NEVER = Long.MAX_VALUE;

    /** The rounding error of a sum of fractions of a token. */
    private static final double ROUNDING = 1e-9;

    /**
     * A place in the queue.
     *
     * @param since when the node was first seen not ready, monotonic
     * @param transition the same from the node's condition, seconds since 1970: it orders nodes that were all found not
     *     ready at a start
     * @param name the node's name, which orders the rest
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

    /** Adds {@code item} at its place. */
    void add(Place place, T item) {
        waiting.put(place, item);
    }

    /** Removes the item at that place. */
    void remove(Place place) {
        waiting.remove(place);
    }

    /** The number of waiting items. */
    int size() {
        return waiting.size();
    }

    /** Sets the rate per second. */
    void rate(float perSecond, long now) {
        fill(now);
        rate = perSecond;
    }

    /** The rate per second. */
    float rate() {
        return rate;
    }

    /** Removes and returns the first item if there is a token, and takes the token. */
    Optional<T> next(long now) {
        fill(now);
        if (rate <= 0 || tokens < 1 - ROUNDING || waiting.isEmpty()) {
            return Optional.empty();
        }
        tokens = Math.max(0, tokens - 1);
        return Optional.of(waiting.pollFirstEntry()).map(Map.Entry::getValue);
    }

    /** Returns the token of an item that did not need it. */
    void giveBack() {
        tokens = 1;
    }

    /** When {@link #next} may return an item. */
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
