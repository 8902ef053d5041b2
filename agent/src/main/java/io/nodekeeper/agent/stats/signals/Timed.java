package io.nodekeeper.agent.stats.signals;

import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;

/**
 * A value and when it was measured. Immutable.
 *
 * @param time by the wall clock, for the API
 * @param nanos the same moment by the monotonic clock in ns, for ages and rates
 */
public record Timed<T>(T value, Instant time, long nanos) {

    /** Another value that was measured at the same moment. */
    public <U> Timed<U> map(Function<T, U> conversion) {
        return new Timed<>(conversion.apply(value), time, nanos);
    }

    /** The time from {@code earlier} to this value. */
    public Duration since(Timed<?> earlier) {
        return Duration.ofNanos(nanos - earlier.nanos);
    }
}
