package io.nodekeeper.apiserver.usage;

import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What something uses. Immutable.
 *
 * @param nanoCores processor time in a second, in nanoseconds
 * @param memory the working set in bytes
 * @param time when it was measured, by the node's clock
 * @param window the time before that over which processor time was measured
 */
record Usage(long nanoCores, long memory, Instant time, Duration window) {
    /** Readings that are closer say nothing about the rate. */
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    /** The usage at present does not follow from readings that are further apart. */
    private static final Duration LONGEST = Duration.ofMinutes(5);
    /** Between two measurements of a kubelet; taken as the window of the rate that it says itself. */
    private static final Duration OF_KUBELET = Duration.ofSeconds(10);

    /**
     * The usage between two readings, or else as the node says itself; empty if processor time or memory is unknown, which
     * is not zero.
     */
    static Optional<Usage> of(Reading newest, Optional<Reading> before) {
        if (newest.memory().isEmpty() || newest.time().isEmpty()) {
            return Optional.empty();
        }
        long memory = newest.memory().get();
        Instant time = newest.time().get();
        Optional<Usage> measured = before.flatMap(earlier -> between(newest, earlier));
        return measured.or(() -> newest.rate().map(rate -> new Usage(rate, memory, time, OF_KUBELET)));
    }

    private static Optional<Usage> between(Reading newest, Reading before) {
        if (before.time().isEmpty()
                || before.cpuNanos().isEmpty()
                || newest.cpuNanos().isEmpty()) {
            return Optional.empty();
        }
        Instant time = newest.time().orElseThrow();
        Duration window = Duration.between(before.time().get(), time);
        long used = newest.cpuNanos().get() - before.cpuNanos().get();
        // A container that started again counts from zero.
        if (used < 0 || window.compareTo(SHORTEST) < 0 || window.compareTo(LONGEST) > 0) {
            return Optional.empty();
        }
        long rate = (long) (used * 1e9 / window.toNanos());
        return Optional.of(new Usage(rate, newest.memory().orElseThrow(), time, window));
    }

    /** {@code usage} of the API, in metrics-server's units. */
    JsonObject json() {
        return JsonObject.builder()
                .put("cpu", nanoCores + "n")
                .put("memory", (memory >> 10) + "Ki")
                .build();
    }
}
