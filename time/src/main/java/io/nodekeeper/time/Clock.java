package io.nodekeeper.time;

import java.time.Instant;

/**
 * Two readings of time that must never be mixed: a monotonic one for ages and deadlines, and the wall clock for what is
 * written to the API. Implementations are thread-safe.
 */
public interface Clock {

    /** Monotonic nanoseconds from an arbitrary origin; only differences of two readings of one clock mean anything. */
    long nanoTime();

    /** The wall clock, which may jump in either direction. */
    Instant wallTime();
}
