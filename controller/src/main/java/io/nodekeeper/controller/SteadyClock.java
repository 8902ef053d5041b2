package io.nodekeeper.controller;

/**
 * A wall clock without jumps: it was set once and runs by the monotonic clock since then. What is measured by it does not
 * change when somebody sets this machine's clock; that shows as {@link #shift} instead. Microseconds since 1970. Not
 * thread-safe.
 */
final class SteadyClock {
    /** What is more than slewing between two checks. Chosen. */
    static final long JUMP = 500_000;

    private final long originNanos;
    private final long originMicros;
    private long shift;

    /** Begins at the wall time {@code micros}, which is {@code nanos} by the monotonic clock. */
    SteadyClock(long nanos, long micros) {
        this.originNanos = nanos;
        this.originMicros = micros;
    }

    /** The steady time of a reading of the monotonic clock. */
    long micros(long nanos) {
        return originMicros + Math.floorDiv(nanos - originNanos, 1_000L);
    }

    /** Compares with the wall clock, read at the same moment; how far that jumped ahead since the last look, 0 if not. */
    long check(long nanos, long wallMicros) {
        long before = shift;
        shift = wallMicros - micros(nanos);
        long jump = shift - before;
        return Math.abs(jump) >= JUMP ? jump : 0;
    }

    /** How far the wall clock was ahead of this one at the last check. */
    long shift() {
        return shift;
    }
}
