package io.nodekeeper.time;

import java.time.Instant;

/**
 * Two time sources that must never be mixed: a monotonic clock for ages and deadlines, and the wall clock for timestamps in
 * the API. Implementations are thread-safe.
 */
public interface Clock {

    /** Monotonic nanoseconds from an arbitrary origin; only differences of two readings of one clock have a meaning. */
    long nanoTime();

    /** The wall clock, which may jump in either direction. */
    Instant wallTime();
}
