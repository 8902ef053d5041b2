package io.nodekeeper.controller;

import io.nodekeeper.api.JsonObject;

/**
 * Whether the controller can see. While the API does not answer, or the controller itself stands still, no node can be
 * heard of; so after a time without any answer all nodes get a fresh grace, as they would from a new controller. Time is
 * nanoseconds, passed in. Not thread-safe.
 */
final class Sight {
    private final long tolerance;
    private long answeredAt;

    /** {@code tolerance} is the time without an answer that does no harm yet, nanoseconds. */
    Sight(long tolerance, long now) {
        this.tolerance = tolerance;
        this.answeredAt = now;
    }

    /** The API answered. True if it had not for so long that everybody's silence must be forgiven. */
    boolean answered(long now) {
        boolean wasBlind = now - answeredAt > tolerance;
        answeredAt = now;
        return wasBlind;
    }

    /** For how long there was no answer. */
    long blindFor(long now) {
        return now - answeredAt;
    }

    /** For people. */
    JsonObject json(long now) {
        return JsonObject.builder()
                .put("blind", blindFor(now) > tolerance)
                .put("lastAnswer", Heartbeats.age(blindFor(now)) + " ago")
                .put("tolerance", Heartbeats.age(tolerance))
                .build();
    }
}
