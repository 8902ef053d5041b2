package io.nodekeeper.agent.health;

import io.nodekeeper.time.Clock;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Monitors the agent's own loops: each must report regularly, and for the first time soon after its registration.
 * Unlike in Kubernetes, a loop that never ran is unhealthy. Thread-safe.
 */
public final class LoopMonitor {
    /** The longest wait for a loop's first report; longer than any wait for first facts (5 s). */
    private static final Duration BEGIN = Duration.ofMinutes(1);
    /** Kubernetes' shortest limit for its sync loop. */
    private static final Duration SILENCE = Duration.ofMinutes(5);

    private final Clock clock;
    private final Map<String, Beat> beats = new ConcurrentHashMap<>();

    /** Monitors no loop yet. */
    public LoopMonitor(Clock clock) {
        this.clock = clock;
    }

    /**
     * Registers a loop.
     *
     * @param name one word, as in {@code /healthz/NAME}
     * @param period the period of its iterations; it may be silent for twice that, and for {@link #SILENCE} at least
     */
    public Beat loop(String name, Duration period) {
        Beat beat = new Beat(Collections.max(List.of(SILENCE, period.multipliedBy(2))));
        beats.put(name, beat);
        return beat;
    }

    /** How long each registered loop has been silent, by name. */
    public Map<String, Duration> silences() {
        Map<String, Duration> silences = new LinkedHashMap<>();
        beats.forEach((name, beat) -> silences.put(name, beat.silent()));
        return silences;
    }

    /** The failure of that loop; empty if it is healthy or unknown. */
    public Optional<String> failure(String name) {
        return Optional.ofNullable(beats.get(name)).flatMap(Beat::failure);
    }

    /** The checks for {@code /healthz}: {@code ping}, which always passes, and each loop that is registered now, by name. */
    public Map<String, Supplier<Optional<String>>> checks() {
        Map<String, Supplier<Optional<String>>> checks = new LinkedHashMap<>();
        checks.put("ping", Optional::empty);
        beats.keySet().stream().sorted().forEach(name -> checks.put(name, () -> failure(name)));
        return checks;
    }

    /** Receives the reports of one loop. Thread-safe. */
    public final class Beat {
        private final long announced = clock.nanoTime();
        private final Duration silence;
        private final AtomicLong last = new AtomicLong(announced);
        private volatile boolean begun;

        private Beat(Duration silence) {
            this.silence = silence;
        }

        /** Reports that the loop runs. */
        public void beat() {
            last.set(clock.nanoTime());
            begun = true;
        }

        private Duration silent() {
            return Duration.ofNanos(clock.nanoTime() - last.get());
        }

        private Optional<String> failure() {
            Duration silent = silent();
            if (!begun) {
                return silent.compareTo(BEGIN) <= 0
                        ? Optional.empty()
                        : Optional.of("has not started within " + GoDuration.format(BEGIN));
            }
            // Kubernetes' wording for its loop, used for all loops here.
            return silent.compareTo(silence) <= 0
                    ? Optional.empty()
                    : Optional.of("sync Loop took longer than expected: silent for "
                            + GoDuration.format(Duration.ofSeconds(silent.toSeconds()))
                            + ", expected an iteration within "
                            + GoDuration.format(silence));
        }
    }
}
