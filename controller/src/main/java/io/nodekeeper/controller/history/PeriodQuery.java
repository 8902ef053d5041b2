package io.nodekeeper.controller.history;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A query for the decisions of some kinds since a time, and the state at that time.
 *
 * @param from the beginning of the period
 * @param kinds the kinds of the decisions
 * @param limit the most decisions, positive; the newest are kept
 */
public record PeriodQuery(Instant from, Set<String> kinds, int limit) implements Search<PeriodQuery.Found> {

    /**
     * The result.
     *
     * @param before of each kind, the last decision about the controller itself before the period, oldest first
     * @param decisions the decisions in the period, newest last
     * @param completeSince the time since which nothing is missing, if something may be missing before it: the history
     *     or the query reached its limit, or the history could not be read further back
     */
    public record Found(List<Decision> before, List<Decision> decisions, Optional<Instant> completeSince) {
        /** Nothing, of which nothing is missing. */
        static final Found NOTHING = new Found(List.of(), List.of(), Optional.empty());
    }

    /** Checks that the limit is positive. */
    public PeriodQuery {
        if (limit <= 0) {
            throw new IllegalArgumentException("limit must be greater than 0, got " + limit);
        }
        kinds = Set.copyOf(kinds);
    }

    @Override
    public boolean wants(String node, String uid, String kind) {
        return kinds.contains(kind);
    }

    @Override
    public Sieve<Found> sieve() {
        return new PeriodSieve();
    }

    private final class PeriodSieve implements Sieve<Found> {
        /** At most one for each kind. */
        private final Map<String, Decision> before = new HashMap<>();
        /** At most {@link #limit}, newest last. */
        private final ArrayDeque<Decision> decisions = new ArrayDeque<>();

        private Instant missing = Instant.MIN;

        @Override
        public void offer(Decision decision) {
            if (!kinds.contains(decision.kind())) {
                return;
            }
            if (decision.at().isBefore(from)) {
                if (decision.isOfController()) {
                    before.putIfAbsent(decision.kind(), decision);
                }
                return;
            }
            if (decisions.size() < limit) {
                decisions.addFirst(decision);
            } else {
                deletedUntil(decision.at());
            }
        }

        /** Never: the last state before the period may be of any age. */
        @Override
        public boolean isComplete(Instant time) {
            return false;
        }

        @Override
        public void deletedUntil(Instant time) {
            if (time.isAfter(missing)) {
                missing = time;
            }
        }

        @Override
        public void unreadUntil(Instant time) {
            deletedUntil(time);
        }

        @Override
        public Found answer() {
            // The wall clock may have been set back, so sort by time. The sort is stable.
            List<Decision> states = new ArrayList<>(before.values());
            states.sort(Comparator.comparing(Decision::at).thenComparing(Decision::kind));
            List<Decision> kept = new ArrayList<>(decisions);
            kept.sort(Comparator.comparing(Decision::at));
            return new Found(
                    List.copyOf(states),
                    List.copyOf(kept),
                    missing.isAfter(from) ? Optional.of(missing) : Optional.empty());
        }
    }
}
