package io.nodekeeper.controller.history;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;

/** Decisions in the order in which they were added, and how much memory they take. Not thread-safe. */
final class SizedDecisions {
    private final ArrayDeque<Decision> decisions = new ArrayDeque<>();
    private long bytes;

    void add(Decision decision) {
        decisions.add(decision);
        bytes += decision.bytes();
    }

    /** Removes the oldest one; there must be one. */
    Decision removeFirst() {
        Decision oldest = decisions.removeFirst();
        bytes -= oldest.bytes();
        return oldest;
    }

    /** All of them, unmodifiable, oldest first. */
    Collection<Decision> all() {
        return Collections.unmodifiableCollection(decisions);
    }

    boolean isEmpty() {
        return decisions.isEmpty();
    }

    int size() {
        return decisions.size();
    }

    /** About how many bytes of memory they take. */
    long bytes() {
        return bytes;
    }
}
