package io.nodekeeper.agent.stats.signals;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.time.Clock;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * A signal that another part of the agent reads periodically. Remembers the wall time of the newest value, which facts
 * do not have. Confined to a loop.
 */
public final class FactSignal<T> {
    private final String name;
    private final Clock clock;
    private Optional<Timed<T>> newest = Optional.empty();
    private Optional<LateSignal> late = Optional.empty();

    /** A signal without a value. */
    public FactSignal(String name, Clock clock) {
        this.name = name;
        this.clock = clock;
    }

    /**
     * Takes the newest state of the fact.
     *
     * @param path the file system that it measures; empty for other facts
     */
    public void update(Fact<T> fact, Optional<Path> path) {
        fact.value()
                .filter(value -> newest.isEmpty() || newest.get().nanos() != fact.observedAt())
                .ifPresent(value ->
                        newest = Optional.of(new Timed<>(value, wallTime(fact.observedAt()), fact.observedAt())));
        if (fact.error().isEmpty() || fact.equals(Fact.unknown())) {
            late = Optional.empty();
            return;
        }
        Instant since = newest.map(Timed::time)
                .orElseGet(() -> late.map(LateSignal::since).orElseGet(clock::wallTime));
        long sinceNanos = newest.map(Timed::nanos)
                .orElseGet(() -> late.map(LateSignal::sinceNanos).orElseGet(clock::nanoTime));
        late = Optional.of(new LateSignal(name, since, sinceNanos, fact.error(), path));
    }

    /** The newest value. */
    public Optional<Timed<T>> newest() {
        return newest;
    }

    /** Set while the newest reading has failed. */
    public Optional<LateSignal> late() {
        return late;
    }

    private Instant wallTime(long nanos) {
        return clock.wallTime().minusNanos(clock.nanoTime() - nanos);
    }
}
