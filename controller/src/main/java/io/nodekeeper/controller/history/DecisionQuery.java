package io.nodekeeper.controller.history;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A query for the decisions about a node, and those about the controller itself from the same time.
 *
 * @param node the name or the UID of the node, or the UID of a pod without a node; empty for all; {@link #CONTROLLER} for
 *     decisions about the controller
 * @param at the time around which to search, half of the decisions before it and half after; empty for the newest
 * @param limit the most decisions of each of the two kinds, positive
 */
public record DecisionQuery(String node, Optional<Instant> at, int limit) implements Search<DecisionQuery.Found> {
    /** Stands for the controller itself, such as its blindness; no node has this name or UID. */
    public static final String CONTROLLER = "-";

    /** Changes of the controller's sight this long before the first decision about a node may explain it. */
    public static final Duration BEFORE = Duration.ofMinutes(5);

    /**
     * The result.
     *
     * @param node the decisions about the node, newest last
     * @param controller the decisions about the controller itself, newest last: all of them since {@link #BEFORE} the
     *     first one about the node, as far as the limit permits, and perhaps earlier ones
     * @param completeSince the time since which no decision is missing, if the history could not be read further back
     */
    public record Found(List<Decision> node, List<Decision> controller, Optional<Instant> completeSince) {}

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

    @Override
    public boolean wants(String about, String uid, String kind) {
        return Decision.isOfController(about, uid) || isAbout(about, uid);
    }

    private boolean isAbout(String about, String uid) {
        if (node.equals(CONTROLLER)) {
            return Decision.isOfController(about, uid);
        }
        return node.isEmpty() || about.equals(node) || uid.equals(node);
    }

    @Override
    public Sieve<Found> sieve() {
        return new DecisionSieve();
    }

    private final class DecisionSieve implements Sieve<Found> {
        private final NearestDecisions ofNode = new NearestDecisions(at, limit);
        private final NearestDecisions ofController = new NearestDecisions(at, limit);
        private Optional<Instant> unread = Optional.empty();

        @Override
        public void offer(Decision decision) {
            if (isAbout(decision.node(), decision.uid())) {
                ofNode.offer(decision);
            }
            if (decision.isOfController()) {
                ofController.offer(decision);
            }
        }

        @Override
        public boolean isComplete(Instant time) {
            return ofNode.isFull()
                    && (ofController.isFull() || time.isBefore(ofNode.oldest().minus(BEFORE)));
        }

        /** Shows what there is; a page of one node is not a complete account. */
        @Override
        public void deletedUntil(Instant time) {}

        @Override
        public void unreadUntil(Instant time) {
            unread = Optional.of(time);
        }

        @Override
        public Found answer() {
            return new Found(ofNode.all(), ofController.all(), unread);
        }
    }
}
