package io.nodekeeper.controller.history;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A query for decisions.
 *
 * @param node the name or the UID of the node; empty for all; {@link #CONTROLLER} for decisions about the controller
 * @param at the time around which to search, half of the decisions before it and half after; empty for the newest
 * @param limit the most decisions, positive
 */
public record DecisionQuery(String node, Optional<Instant> at, int limit) implements Search<List<Decision>> {
    /** Stands for the controller itself, such as its blindness; no node has this name or UID. */
    public static final String CONTROLLER = "-";

    /** Checks that the limit is positive. */
    public DecisionQuery {
        if (limit <= 0) {
            throw new IllegalArgumentException("limit must be greater than 0, got " + limit);
        }
    }

    /** The newest decisions about one node. */
    public static DecisionQuery newest(String node, int limit) {
        return new DecisionQuery(node, Optional.empty(), limit);
    }

    /** The same query for decisions about the controller itself. */
    public DecisionQuery aboutController() {
        return new DecisionQuery(CONTROLLER, at, limit);
    }

    /** Whether a decision is about the queried node, at any time. */
    boolean isAbout(Decision decision) {
        if (node.equals(CONTROLLER)) {
            return decision.node().isEmpty();
        }
        return node.isEmpty() || decision.node().equals(node) || decision.uid().equals(node);
    }

    @Override
    public Sieve<List<Decision>> sieve() {
        return new DecisionSieve();
    }

    /** Keeps the matching decisions of a stream in order of time. */
    private final class DecisionSieve implements Sieve<List<Decision>> {
        private final ArrayDeque<Decision> before = new ArrayDeque<>();
        private final List<Decision> after = new ArrayList<>();

        @Override
        public void offer(Decision decision) {
            if (!isAbout(decision)) {
                return;
            }
            if (at.isPresent() && decision.at().isAfter(at.get())) {
                if (after.size() < limit) {
                    after.add(decision);
                }
                return;
            }
            before.add(decision);
            if (before.size() > limit) {
                before.removeFirst();
            }
        }

        /** Shows what there is; a page of one node is not a complete account. */
        @Override
        public void deletedUntil(Instant time) {}

        /** The matching decisions, newest last. */
        @Override
        public List<Decision> answer() {
            // If one side has few decisions, the other one gets more.
            int afterwards = Math.min(after.size(), Math.max(limit / 2, limit - before.size()));
            while (before.size() > limit - afterwards) {
                before.removeFirst();
            }
            List<Decision> kept = new ArrayList<>(before);
            kept.addAll(after.subList(0, afterwards));
            // The wall clock may have been set back, so sort by time. The sort is stable.
            kept.sort(Comparator.comparing(Decision::at));
            return List.copyOf(kept);
        }
    }
}
