package io.nodekeeper.agent.metrics;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Measures an agent's start; only the first call for each step counts. As in the kubelet, the last three times are
 * set only if this process created the Node. Times are monotonic ns. Not thread-safe.
 */
public final class StartupTracker {
    private final Duration preKubelet;
    private final long started;
    private OptionalLong attempted = OptionalLong.empty();
    private OptionalLong created = OptionalLong.empty();
    private OptionalLong ready = OptionalLong.empty();

    /**
     * A start.
     *
     * @param preKubelet boot of the kernel → start of the process, from /proc
     * @param started when the process started
     */
    public StartupTracker(Duration preKubelet, long started) {
        this.preKubelet = preKubelet;
        this.started = started;
    }

    /** The agent tries to register. */
    public StartupTimes attempted(long now) {
        attempted = first(attempted, now);
        return times();
    }

    /** The API server has created the Node (201). */
    public StartupTimes created(long now) {
        if (attempted.isPresent()) {
            created = first(created, now);
        }
        return times();
    }

    /** The API server has taken a status with Ready=True. */
    public StartupTimes ready(long now) {
        if (created.isPresent()) {
            ready = first(ready, now);
        }
        return times();
    }

    /** What is known so far. */
    public StartupTimes times() {
        Optional<Duration> total = between(OptionalLong.of(started), ready).map(preKubelet::plus);
        return new StartupTimes(
                Optional.of(preKubelet),
                between(OptionalLong.of(started), attempted),
                between(attempted, created),
                between(created, ready),
                total);
    }

    private static OptionalLong first(OptionalLong mark, long now) {
        return mark.isPresent() ? mark : OptionalLong.of(now);
    }

    private static Optional<Duration> between(OptionalLong from, OptionalLong to) {
        return from.isPresent() && to.isPresent()
                ? Optional.of(Duration.ofNanos(to.getAsLong() - from.getAsLong()))
                : Optional.empty();
    }
}
