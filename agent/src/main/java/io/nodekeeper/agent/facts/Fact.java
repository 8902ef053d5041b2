package io.nodekeeper.agent.facts;

import java.util.Optional;

/**
 * The last known value of one fact. Immutable.
 *
 * @param value the result of the last successful reading; empty if there was none yet
 * @param observedAt the time of that reading by the monotonic clock in ns; meaningless if there was none
 * @param error why the newest reading failed; empty if it succeeded
 */
public record Fact<T>(Optional<T> value, long observedAt, String error) {

    /** Nothing is known yet. */
    public static <T> Fact<T> unknown() {
        return new Fact<>(Optional.empty(), 0, "not read yet");
    }

    /** The fact {@code value}, read at {@code nowNanos}. */
    public static <T> Fact<T> of(T value, long nowNanos) {
        return new Fact<>(Optional.of(value), nowNanos, "");
    }

    /** The same value, after a newer reading has failed. */
    public Fact<T> failed(String why) {
        return new Fact<>(value, observedAt, why);
    }

    /** The value, if the newest reading was successful. */
    public Optional<T> current() {
        return error.isEmpty() ? value : Optional.empty();
    }
}
