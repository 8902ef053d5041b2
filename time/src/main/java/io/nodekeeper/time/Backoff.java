package io.nodekeeper.time;

import java.time.Duration;

/**
 * Exponential backoff: pauses between attempts that double from {@code initial} up to {@code cap}. Immutable.
 *
 * @param initial the pause before the first retry, positive
 * @param cap the longest pause, at least {@code initial}
 */
public record Backoff(Duration initial, Duration cap) {

    /** Rejects pauses that could not grow. */
    public Backoff {
        if (initial.isNegative() || initial.isZero() || cap.compareTo(initial) < 0) {
            throw new IllegalArgumentException("backoff needs 0 < initial <= cap, got initial "
                    + GoDuration.format(initial) + ", cap " + GoDuration.format(cap));
        }
    }

    /** The pause before retry number {@code failures}, counted from 0: {@code initial} for 0. */
    public Duration delay(int failures) {
        long wait = initial.toNanos();
        for (int i = 0; i < failures && wait < cap.toNanos(); i++) {
            wait *= 2;
        }
        return Duration.ofNanos(Math.min(wait, cap.toNanos()));
    }
}
