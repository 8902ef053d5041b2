package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import java.util.function.Consumer;

/**
 * Gives the objects of a store one after another, so that they need not be in memory together.
 *
 * @param <E> what a read of the objects throws
 */
@FunctionalInterface
public interface ObjectSource<E extends Exception> {
    /** Passes each object to {@code taker}. */
    void each(Consumer<Entry> taker) throws E;
}
