package io.nodekeeper.time.progress;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Estimates how long the rest of a step takes, from its pace in the last half minute. A mean over the whole step would follow a
 * change of the pace too late. Not thread-safe.
 */
final class Pace {
    /** Between two samples. */
    private static final long APART = Duration.ofSeconds(1).toNanos();
    /** What is older does not count: in half a minute one slow second does not change the estimate much. */
    private static final long WINDOW = Duration.ofSeconds(30).toNanos();
    /** No estimate before this time in a step: its first moments differ from the rest. */
    private static final long FIRST = Duration.ofSeconds(2).toNanos();

    private record Sample(long at, double done) {}

    /** At most 32: {@link #WINDOW} in steps of {@link #APART}, and one older. */
    private final ArrayDeque<Sample> samples = new ArrayDeque<>();

    private @Nullable Progress last;

    /** The pace of a task that began at {@code began} (monotonic nanoseconds) with nothing done. */
    Pace(long began) {
        samples.add(new Sample(began, 0));
    }

    /** Takes note of {@code progress} at {@code now} (monotonic nanoseconds), and estimates the rest of its step. */
    Optional<Duration> left(Progress progress, long now) {
        if (last != null && (!progress.step().equals(last.step()) || progress.total() != last.total())) {
            samples.clear();
        }
        last = progress;
        if (samples.isEmpty() || now - samples.getLast().at >= APART) {
            samples.addLast(new Sample(now, progress.done()));
        }
        while (samples.size() > 2 && now - samples.getFirst().at > WINDOW) {
            samples.removeFirst();
        }
        Sample first = samples.getFirst();
        double gain = progress.done() - first.done;
        if (!progress.hasEnd() || now - first.at < FIRST || !(gain > 0)) {
            return Optional.empty();
        }
        double nanos = Math.max(0, progress.total() - progress.done()) / gain * (now - first.at);
        return nanos < Long.MAX_VALUE ? Optional.of(Duration.ofNanos((long) nanos)) : Optional.empty();
    }
}
