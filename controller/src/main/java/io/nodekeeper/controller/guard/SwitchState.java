package io.nodekeeper.controller.guard;

import io.nodekeeper.controller.observer.Ages;
import java.time.Duration;
import java.util.Optional;

/** Whether the operator has switched the guard off, as last read from the webhook configuration. Thread-safe. */
public final class SwitchState {
    /**
     * A state that was read longer ago does not count: the operator may have switched the guard off since. Several
     * periods of the reading.
     */
    private static final Duration STALE = Duration.ofMinutes(1);

    private record State(boolean on, String why, long at) {}

    private volatile State last = new State(false, "the webhook configuration has not been read", 0);

    /** The configuration was read at {@code now}, nanoseconds by a monotonic clock; {@code off} says why it is off. */
    public void read(Optional<String> off, long now) {
        last = new State(off.isEmpty(), off.orElse(""), now);
    }

    /** Why every write must pass at {@code now}; empty if the guard is on. */
    public Optional<String> off(long now) {
        State state = last;
        if (!state.on) {
            return Optional.of(state.why);
        }
        long age = now - state.at;
        return age > STALE.toNanos()
                ? Optional.of("the webhook configuration has not been read for " + Ages.text(age))
                : Optional.empty();
    }
}
