package io.nodekeeper.controller.history;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Keeps the newest decisions of a stream, or those around a time: half of them before it and half after, or more of one
 * side if the other has few. The stream begins with the newest. Not thread-safe.
 */
final class NearestDecisions {
    private final Optional<Instant> at;
    private final int limit;
    /** At most {@link #limit}, newest first. */
    private final List<Decision> before = new ArrayList<>();
    /** At most {@link #limit}, oldest first. */
    private final Deque<Decision> after = new ArrayDeque<>();

    NearestDecisions(Optional<Instant> at, int limit) {
        this.at = at;
        this.limit = limit;
    }

    /** The next decision. */
    void offer(Decision decision) {
        if (at.filter(decision.at()::isAfter).isPresent()) {
            after.addFirst(decision);
            if (after.size() > limit) {
                after.removeLast();
            }
        } else if (before.size() < limit) {
            before.add(decision);
        }
    }

    /** Whether older decisions change nothing. */
    boolean isFull() {
        return before.size() >= limit - Math.min(after.size(), limit / 2);
    }

    /** The time of the oldest one; there is one if {@link #isFull}. */
    Instant oldest() {
        return before.getLast().at();
    }

    /** The decisions, newest last. */
    List<Decision> all() {
        int afterwards = Math.min(after.size(), Math.max(limit / 2, limit - before.size()));
        List<Decision> kept = new ArrayList<>(before.subList(0, Math.min(before.size(), limit - afterwards)));
        Collections.reverse(kept);
        after.stream().limit(afterwards).forEach(kept::add);
        // The wall clock may have been set back, so sort by time. The sort is stable.
        kept.sort(Comparator.comparing(Decision::at));
        return List.copyOf(kept);
    }
}
