package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.store.Entry;
import io.nodekeeper.time.Futures;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * A write request. Immutable.
 *
 * @param resource the resource of the object
 * @param target the object and the subresource; without a name for a creation
 * @param dryRun whether to store nothing
 * @param admission refuses a change with an exception. It gets exactly the state that the write replaces (empty for a
 *     creation) and the new state (the same for a deletion), so there is no gap between the check and the write
 * @param turn runs what is left after a wait, such as the attempts after a conflict, on threads of their own, in the turn of the request's user
 * @param manager the field manager that owns the written fields
 * @param patches whether the request is a patch, not a whole object
 */
public record WriteRequest(
        Resource resource,
        RequestTarget target,
        boolean dryRun,
        BiConsumer<JsonObject, JsonObject> admission,
        Executor turn,
        String manager,
        boolean patches) {
    /** A write by the server itself, or one without field ownership. */
    public WriteRequest(
            Resource resource,
            RequestTarget target,
            boolean dryRun,
            BiConsumer<JsonObject, JsonObject> admission,
            Executor turn) {
        this(resource, target, dryRun, admission, turn, "nodekeeper", false);
    }

    /**
     * Runs {@code work}, which parses {@code entries}: in the turn of the request's user if they are large, or must be read from the disk;
     * otherwise now.
     */
    public <T> CompletableFuture<T> parsing(List<Entry> entries, Supplier<CompletableFuture<T>> work) {
        boolean light = entries.stream().allMatch(Entry::atHand)
                && entries.stream().mapToLong(Entry::length).sum() < Codec.LARGE;
        return light ? work.get() : Futures.startOn(turn, work);
    }

    /** The object's key in the store. */
    public String key() {
        return resource.key(target.namespace(), target.name());
    }

    /** The same request for another object of the resource. */
    WriteRequest about(String namespace, String name) {
        return new WriteRequest(
                resource,
                RequestTarget.of(resource.type(), namespace, name, ""),
                dryRun,
                admission,
                turn,
                manager,
                patches);
    }
}
