package io.nodekeeper.agent.stats.signals;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * A signal whose newest reading failed or has no answer; its last value stays, with its old time. Immutable.
 *
 * @param signal the name of the signal
 * @param since when it was last measured, or when the first reading began
 * @param sinceNanos the same by the monotonic clock in ns
 * @param error what the reading waits for, or why it failed
 * @param path the file system that is measured; empty for other signals
 */
public record LateSignal(String signal, Instant since, long sinceNanos, String error, Optional<Path> path) {
    /** The same, which measures the file system of {@code other}. */
    public LateSignal at(Path other) {
        return new LateSignal(signal, since, sinceNanos, error, Optional.of(other));
    }
}
