package io.nodekeeper.client.pages;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Provides HTTP pages by their paths. Implementations are thread-safe. */
@FunctionalInterface
public interface Pages {

    /** The page at {@code path} with the raw {@code query}, which may be empty; never fails. */
    CompletableFuture<Page> get(String path, String query);

    /** The stream of events at {@code path}; empty if there is an ordinary page or none. */
    default Optional<Feed> feed(String path) {
        return Optional.empty();
    }
}
