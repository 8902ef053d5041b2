package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Json;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Read, decide, write at the revision that was read; and again, if somebody was faster. Thread-safe.
 */
final class Attempts {
    /** Each loss means that another write won, so this ends; the bound is for a store that misbehaves. Chosen. */
    private static final int TRIES = 1_000;

    /** The largest object to store, in bytes: what etcd takes by default. */
    private static final int OBJECT_BYTES = 3 << 19;

    private final Store store;

    Attempts(Store store) {
        this.store = store;
    }

    /** What came of a write. What was stored is shown as it was stored, and decoded only for those who ask. */
    static final class Result {
        private final int status;
        private final boolean gone;
        private final Supplier<JsonObject> object;
        private final Supplier<byte[]> bytes;

        /** {@code object} is the object as it is now, with its resource version; {@code gone} if it is no longer stored. */
        Result(int status, JsonObject object, boolean gone) {
            this.status = status;
            this.gone = gone;
            this.object = () -> object;
            this.bytes = () -> Json.writeBytes(object);
        }

        private Result(int status, Codec codec, Entry stored) {
            this.status = status;
            this.gone = false;
            this.object = () -> codec.decode(stored);
            this.bytes = () -> codec.show(stored, stored.modRevision());
        }

        /** The HTTP status. */
        int status() {
            return status;
        }

        /** The object as it is now, with its resource version. */
        JsonObject object() {
            return object.get();
        }

        /** The object in JSON. */
        byte[] bytes() {
            return bytes.get();
        }

        /** Whether it is no longer stored. */
        boolean gone() {
            return gone;
        }
    }

    /** Decides about an object as it stands, and begins to write. */
    interface Attempt {
        CompletableFuture<Result> on(Entry entry, JsonObject object);
    }

    /** Has {@code attempt} change the existing object until nobody was faster. */
    CompletableFuture<Result> run(Order order, Attempt attempt) {
        CompletableFuture<Result> result = new CompletableFuture<>();
        run(order, attempt, 1, result);
        return result;
    }

    private void run(Order order, Attempt attempt, int number, CompletableFuture<Result> result) {
        CompletableFuture<Result> write;
        try {
            Entry entry = store.get(order.key())
                    .orElseThrow(() -> ApiException.notFound(
                            order.resource().type(), order.target().name()));
            write = attempt.on(entry, order.resource().codec().decode(entry));
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
            return;
        }
        write.whenComplete((done, error) -> {
            if (error == null) {
                result.complete(done);
            } else if (!(Failures.cause(error) instanceof StoreException.Conflict)) {
                result.completeExceptionally(refused(error));
            } else if (number < TRIES) {
                run(order, attempt, number + 1, result);
            } else {
                result.completeExceptionally(ApiException.modified(
                        order.resource().type(), order.target().name()));
            }
        });
    }

    /** Stores a new object. */
    CompletableFuture<Result> create(Order order, JsonObject object) {
        return store.put(order.key(), bytes(order, object), 0).handle((entry, error) -> {
            if (error == null) {
                return new Result(201, order.resource().codec(), entry);
            }
            throw Failures.cause(error) instanceof StoreException.Conflict
                    ? ApiException.alreadyExists(
                            order.resource().type(), order.target().name())
                    : refused(error);
        });
    }

    /** Stores what replaces {@code entry}. */
    CompletableFuture<Result> replace(Order order, Entry entry, JsonObject object) {
        return store.put(entry.key(), bytes(order, object), entry.modRevision())
                .thenApply(stored -> new Result(200, order.resource().codec(), stored));
    }

    /** Removes {@code entry}, whose last state is {@code object}. */
    CompletableFuture<Result> remove(Entry entry, JsonObject object) {
        return store.delete(entry.key(), entry.modRevision()).thenApply(revision -> new Result(200, object, true));
    }

    private static byte[] bytes(Order order, JsonObject object) {
        byte[] bytes = order.resource().codec().encode(object);
        if (bytes.length > OBJECT_BYTES) {
            throw new ApiException(
                    413,
                    "RequestEntityTooLarge",
                    "Request entity too large: the object would take " + bytes.length + " bytes, limit is "
                            + OBJECT_BYTES);
        }
        return bytes;
    }

    private static RuntimeException refused(Throwable error) {
        Throwable cause = Failures.cause(error);
        return cause instanceof ApiException refused
                ? refused
                : new ApiException(
                        500,
                        "InternalError",
                        "Internal error occurred: " + (cause instanceof StoreException ? cause.getMessage() : cause));
    }
}
