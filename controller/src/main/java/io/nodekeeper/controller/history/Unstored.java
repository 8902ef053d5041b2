package io.nodekeeper.controller.history;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Adds decisions that may not be on disk to a stream of those that are, each of them once and in order of time. Not
 * thread-safe.
 */
final class Unstored {
    private final Set<Decision> all;
    private final ArrayDeque<Decision> left;

    Unstored(List<Decision> decisions) {
        all = new HashSet<>(decisions);
        left = new ArrayDeque<>(
                decisions.stream().sorted(Comparator.comparing(Decision::at)).toList());
    }

    /** The next decision on disk. */
    void stored(Decision decision, Search.Sieve<?> sieve) {
        offerUntil(decision.at(), sieve);
        // One whose write ended in the meantime, or after its deadline, was or will be offered already.
        if (all.isEmpty() || !all.contains(decision)) {
            sieve.offer(decision);
        }
    }

    /** There are no more decisions on disk. */
    void end(Search.Sieve<?> sieve) {
        offerUntil(Instant.MAX, sieve);
    }

    private void offerUntil(Instant time, Search.Sieve<?> sieve) {
        while (!left.isEmpty() && !left.getFirst().at().isAfter(time)) {
            sieve.offer(left.removeFirst());
        }
    }
}
