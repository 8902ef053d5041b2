package io.nodekeeper.time;

import java.time.Duration;

/**
 * Waits that double from {@code initial} up to {@code cap}. Immutable.
 *
 * @param initial the wait before the first try, positive
 * @param cap the longest wait, at least {@code initial}
 */
public record Backoff(Duration initial, Duration cap) {

    /** Rejects waits that could not grow. */
    public Backoff {
        if (initial.isNegative() || initial.isZero() || cap.compareTo(initial) < 0) {
            throw new IllegalArgumentException("backoff needs 0 < initial <= cap, got initial "
                    + GoDuration.format(initial) + ", cap " + GoDuration.format(cap));
        }
    }

    /** The wait after {@code failures} failures in a row, counted from 0. */
    public Duration delay(int failures) {
        long wait = initial.toNanos();
        for (int i = 0; i < failures && wait < cap.toNanos(); i++) {
            wait *= 2;
        }
        return Duration.ofNanos(Math.min(wait, cap.toNanos()));
    }
}
