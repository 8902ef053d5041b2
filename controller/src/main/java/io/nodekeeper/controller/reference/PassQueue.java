package io.nodekeeper.controller.reference;

import io.nodekeeper.time.TokenBucket;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A zone's queue that behaves exactly as Kubernetes' queue. A processed item stays in the set, so it cannot be added
 * again before it was removed. A token is taken before it is known whether an item needs it. A stopped queue reports a
 * rate of 1, so a rate of exactly 1 never starts it again. Time is nanoseconds, passed in. Pure; not thread-safe.
 *
 * @param <T> what waits
 */
final class PassQueue<T> {
    private record Item<T>(T value, long processAt, long order) implements Comparable<Item<T>> {
        @Override
        public int compareTo(Item<T> other) {
            return processAt != other.processAt
                    ? Long.compare(processAt, other.processAt)
                    : Long.compare(order, other.order);
        }
    }

    private final TreeSet<Item<T>> heap = new TreeSet<>();
    private final Map<T, Item<T>> queued = new HashMap<>();
    private final Set<T> set = new HashSet<>();
    private long order;
    /** Absent if the queue is stopped. */
    private @Nullable TokenBucket limiter;

    private float reportedRate;

    /** An empty queue with one token. */
    PassQueue(float rate, long now) {
        limit(rate, now);
    }

    /** Adds {@code value}, unless it waits already or was processed and not removed since. */
    void add(T value, long now) {
        if (set.add(value)) {
            put(value, now);
        }
    }

    /** Removes {@code value}. */
    void remove(T value) {
        set.remove(value);
        unqueue(value);
    }

    /** The number of waiting items. */
    int size() {
        return heap.size();
    }

    /** Sets the rate per second. */
    void rate(float perSecond, long now) {
        if (perSecond == reportedRate) {
            return;
        }
        boolean refused = !take(now);
        limit(perSecond, now);
        if (refused) {
            take(now);
        }
    }

    /** Calls {@code action} for the items that are due. It returns empty, or how long this item must wait. */
    void run(long now, Function<T, OptionalLong> action) {
        while (!heap.isEmpty() && take(now)) {
            Item<T> head = heap.first();
            if (head.processAt > now) {
                return;
            }
            OptionalLong wait = action.apply(head.value);
            if (queued.get(head.value) == head) {
                unqueue(head.value);
                if (wait.isPresent()) {
                    put(head.value, now + wait.getAsLong() + 1);
                }
            }
        }
    }

    private void put(T value, long processAt) {
        Item<T> item = new Item<>(value, processAt, order++);
        heap.add(item);
        queued.put(value, item);
    }

    private void unqueue(T value) {
        Item<T> item = queued.remove(value);
        if (item != null) {
            heap.remove(item);
        }
    }

    private boolean take(long now) {
        return limiter != null && limiter.tryTake(now);
    }

    private void limit(float perSecond, long now) {
        limiter = perSecond > 0 ? new TokenBucket(perSecond, 1, now) : null;
        reportedRate = perSecond > 0 ? perSecond : 1;
    }
}
