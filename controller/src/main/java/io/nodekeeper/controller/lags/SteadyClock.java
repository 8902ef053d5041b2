package io.nodekeeper.controller.lags;

/**
 * A wall clock without jumps: it is set once and then follows the monotonic clock. Setting this machine's clock does
 * not change its measurements; {@link #shift} shows that instead. Microseconds since 1970. Not thread-safe.
 */
final class SteadyClock {
    /**
     * A larger difference is a jump: at NTP's fastest slew rate of 500 ppm, slewing within the 30 s between two checks
     * stays below 15 ms, and half a second is below the second that matters to people.
     */
    static final long JUMP = 500_000;

    private final long originNanos;
    private final long originMicros;
    private long shift;

    /** A clock that starts at wall time {@code micros}, which is {@code nanos} by the monotonic clock. */
    SteadyClock(long nanos, long micros) {
        this.originNanos = nanos;
        this.originMicros = micros;
    }

    /** The steady time of a reading of the monotonic clock. */
    long micros(long nanos) {
        return originMicros + Math.floorDiv(nanos - originNanos, 1_000L);
    }

    /**
     * Compares with the wall clock, read at the same moment; returns how far that jumped ahead since the last check, or
     * 0.
     */
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
