package io.nodekeeper.controller.history;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A history that is opened when its controller starts: a standby must not use the files of the leader, and takes them
 * over when it is elected. Confined to the controller's loop, but {@link #close} may be called from anywhere.
 */
public final class DeferredHistory implements SearchableHistory {
    private final Supplier<SearchableHistory> opening;
    private volatile Optional<SearchableHistory> opened = Optional.empty();

    /** {@code opening} creates the history, once, on the loop. */
    public DeferredHistory(Supplier<SearchableHistory> opening) {
        this.opening = opening;
    }

    /** Opens the history, unless it is open. */
    public void open() {
        if (opened.isEmpty()) {
            opened = Optional.of(opening.get());
        }
    }

    @Override
    public void add(Decision decision) {
        open();
        opened.orElseThrow().add(decision);
    }

    /** Finds nothing before the history is opened. */
    @Override
    public <R> CompletableFuture<R> find(Search<R> search) {
        return opened.map(history -> history.find(search))
                .orElseGet(
                        () -> CompletableFuture.completedFuture(search.sieve().answer()));
    }

    @Override
    public void close() {
        opened.ifPresent(SearchableHistory::close);
    }
}
