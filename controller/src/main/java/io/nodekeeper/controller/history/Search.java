package io.nodekeeper.controller.history;

import java.time.Instant;

/** A question to a history, with an answer of type {@code R} that may be far smaller than the history. Immutable. */
public sealed interface Search<R> permits DecisionQuery, PeriodQuery {
    /**
     * Whether a decision of that kind about that node may be part of the answer. If not, the rest of it need not be
     * parsed.
     */
    boolean wants(String node, String uid, String kind);

    /** An empty filter for this question. */
    Sieve<R> sieve();

    /** Keeps what the answer needs of a stream of decisions, newest first. Not thread-safe. */
    interface Sieve<R> {
        /** The next decision. */
        void offer(Decision decision);

        /** Whether the answer needs no decision from before {@code time}, after all those since then were offered. */
        boolean isComplete(Instant time);

        /** Earlier decisions up to that time may have been deleted. */
        void deletedUntil(Instant time);

        /** Decisions up to that time may exist and were not read. */
        void unreadUntil(Instant time);

        /** The answer. */
        R answer();
    }
}
