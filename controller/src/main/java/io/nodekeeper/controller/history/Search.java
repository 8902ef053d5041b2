package io.nodekeeper.controller.history;

import java.time.Instant;

/** A question to a history, with an answer of type {@code R} that may be far smaller than the history. Immutable. */
public sealed interface Search<R> permits DecisionQuery, PeriodQuery {
    /** An empty filter for this question. */
    Sieve<R> sieve();

    /** Keeps what the answer needs of a stream of decisions, oldest first. Not thread-safe. */
    interface Sieve<R> {
        /** The next decision. */
        void offer(Decision decision);

        /** Earlier decisions up to that time may have been deleted. */
        void deletedUntil(Instant time);

        /** The answer. */
        R answer();
    }
}
