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

/**
 * Watches the agent's own loops: each has to give a sign of life now and then, and a first one soon after it was
 * announced. Kubernetes' kubelet calls a loop healthy that never ran; here it is not. Thread-safe.
 */
public final class LoopMonitor {
    /** A loop that has not run by then never will. Chosen: longer than any wait for first facts. */
    private static final Duration BEGIN = Duration.ofMinutes(1);
    /** Kubernetes' least patience with its sync loop. */
    private static final Duration SILENCE = Duration.ofMinutes(5);

    private final Clock clock;
    private final Map<String, Beat> beats = new ConcurrentHashMap<>();

    /** Watches nothing yet. */
    public LoopMonitor(Clock clock) {
        this.clock = clock;
    }

    /**
     * Announces a loop.
     *
     * @param name one word, as it stands in {@code /healthz/NAME}
     * @param period how often it goes round; it may be silent for twice that, and for {@link #SILENCE} at least
     */
    public Beat loop(String name, Duration period) {
        Beat beat = new Beat(Collections.max(List.of(SILENCE, period.multipliedBy(2))));
        beats.put(name, beat);
        return beat;
    }

    /** The loops that were announced, and how long each has been silent. */
    public Map<String, Duration> silences() {
        Map<String, Duration> silences = new LinkedHashMap<>();
        beats.forEach((name, beat) -> silences.put(name, beat.silent()));
        return silences;
    }

    /** What is wrong with that loop; empty if it is well, or unknown. */
    public Optional<String> failure(String name) {
        return Optional.ofNullable(beats.get(name)).flatMap(Beat::failure);
    }

    /** One loop's signs of life. Thread-safe. */
    public final class Beat {
        private final long announced = clock.nanoTime();
        private final Duration silence;
        private final AtomicLong last = new AtomicLong(announced);
        private volatile boolean begun;

        private Beat(Duration silence) {
            this.silence = silence;
        }

        /** The loop is alive. */
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
            // Kubernetes' words, for its loop and ours.
            return silent.compareTo(silence) <= 0
                    ? Optional.empty()
                    : Optional.of("sync Loop took longer than expected: silent for "
                            + GoDuration.format(Duration.ofSeconds(silent.toSeconds()))
                            + ", expected a sign of life within "
                            + GoDuration.format(silence));
        }
    }
}
