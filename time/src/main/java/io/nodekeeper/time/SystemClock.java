package io.nodekeeper.time;

import java.time.Instant;

/** The machine's clocks. Thread-safe. */
public final class SystemClock implements Clock {

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Instant wallTime() {
        return Instant.now();
    }
}
