package io.nodekeeper.controller.history;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Adds decisions that may not be on disk to a stream of those that are, each of them once, the newest first. Not
 * thread-safe.
 */
final class Unstored {
    private final Set<Decision> all;
    /** Newest last. */
    private final ArrayDeque<Decision> left;

    Unstored(List<Decision> decisions) {
        all = new HashSet<>(decisions);
        left = new ArrayDeque<>(
                decisions.stream().sorted(Comparator.comparing(Decision::at)).toList());
    }

    /** The next decision on disk. */
    void stored(Decision decision, Search.Sieve<?> sieve) {
        offerAfter(decision.at(), sieve);
        // One whose write ended in the meantime, or after its deadline, was or will be offered already.
        if (all.isEmpty() || !all.contains(decision)) {
            sieve.offer(decision);
        }
    }

    /** There are no more decisions on disk. */
    void end(Search.Sieve<?> sieve) {
        offerAfter(Instant.MIN, sieve);
    }

    private void offerAfter(Instant time, Search.Sieve<?> sieve) {
        while (!left.isEmpty() && left.getLast().at().isAfter(time)) {
            sieve.offer(left.removeLast());
        }
    }
}
