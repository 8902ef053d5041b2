package io.nodekeeper.agent.stats.signals;

import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads one signal on request, at most once at a time, and keeps the newest value. A request waits for the
 * deadline at most; a reading that takes longer continues, and no other one starts before it has ended. Confined to its
 * loop.
 */
public final class Collector<T> {
    private final String name;
    private final Duration deadline;
    private final Duration fresh;
    private final Loop loop;
    private Optional<Timed<T>> newest = Optional.empty();
    private Optional<Timed<T>> previous = Optional.empty();
    private Optional<LateSignal> late = Optional.empty();
    private @Nullable CompletableFuture<T> open;
    private CompletableFuture<Void> awaited = CompletableFuture.completedFuture(null);

    /**
     * A signal that was not read yet.
     *
     * @param name the name of the signal
     * @param deadline how long a request waits for a reading
     * @param fresh a value that is younger is not read again
     */
    public Collector(String name, Duration deadline, Duration fresh, Loop loop) {
        this.name = name;
        this.deadline = deadline;
        this.fresh = fresh;
        this.loop = loop;
    }

    /**
     * Starts {@code reading}, unless the value is fresh or a reading is in progress; completes when the reading has ended
     * or its deadline has passed. Never fails.
     */
    public CompletableFuture<Void> refresh(Supplier<CompletableFuture<T>> reading) {
        long now = loop.clock().nanoTime();
        boolean isFresh = newest.isPresent() && now - newest.get().nanos() < fresh.toNanos();
        if (open != null || isFresh) {
            return awaited;
        }
        Instant begin = loop.clock().wallTime();
        CompletableFuture<Void> waiting = new CompletableFuture<>();
        awaited = waiting;
        CompletableFuture<T> started = Futures.start(reading);
        open = started;
        Loop.Timer timer = loop.schedule(deadline, () -> {
            failed(begin, now, "no answer within " + GoDuration.format(deadline));
            waiting.complete(null);
        });
        started.whenCompleteAsync(
                (value, error) -> {
                    timer.cancel();
                    open = null;
                    if (error == null) {
                        previous = newest;
                        newest = Optional.of(new Timed<>(
                                value, loop.clock().wallTime(), loop.clock().nanoTime()));
                        late = Optional.empty();
                    } else {
                        failed(begin, now, Failures.text(error));
                    }
                    waiting.complete(null);
                },
                loop);
        return waiting;
    }

    /** The newest value. */
    public Optional<Timed<T>> newest() {
        return newest;
    }

    /** The value before it. */
    public Optional<Timed<T>> previous() {
        return previous;
    }

    /** Set while the newest reading has no answer after its deadline, or failed. */
    public Optional<LateSignal> late() {
        return late;
    }

    /** The same, but empty while the newest value is at most {@code age} old. */
    public Optional<LateSignal> late(Duration age) {
        long now = loop.clock().nanoTime();
        return late.filter(signal ->
                newest.filter(value -> now - value.nanos() <= age.toNanos()).isEmpty());
    }

    private void failed(Instant begin, long beginNanos, String error) {
        late = Optional.of(
                late.map(before -> new LateSignal(name, before.since(), before.sinceNanos(), error, Optional.empty()))
                        .orElseGet(() -> new LateSignal(name, begin, beginNanos, error, Optional.empty())));
    }
}
