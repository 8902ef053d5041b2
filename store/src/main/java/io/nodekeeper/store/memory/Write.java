package io.nodekeeper.store.memory;

import io.nodekeeper.store.Event;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A write that waits for its commit.
 *
 * @param value the new value; empty for a deletion
 * @param expected the revision that the object must have; 0 if it must not exist
 * @param batched whether it may wait for others
 * @param done completes when the write is durable
 */
record Write(String key, Optional<byte[]> value, long expected, boolean batched, CompletableFuture<Event> done) {}
