package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.Failures;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Read, decide, write at the revision that was read; and again, if somebody was faster. Thread-safe.
 *
 * <p>On a store that others write to as well the first read is of what was heard so far, which is free: if it was too old
 * the write loses. A decision that leads to no write (a refusal, or that nothing is to be changed) could not lose, so it is
 * taken once more on a fresh read before it is answered. After a loss it goes on from what it lost against.
 */
public final class OptimisticRetry {
    /** Each loss means that another write won, so this ends; the bound is for a store that misbehaves. Chosen. */
    private static final int TRIES = 1_000;

    /** The largest object to store, in bytes: what etcd takes by default. */
    private static final int OBJECT_BYTES = 3 << 19;

    private final Store store;

    public OptimisticRetry(Store store) {
        this.store = store;
    }

    /** What came of a write. What was stored is shown as it was stored, and decoded only for those who ask. */
    public static final class Result {
        private final int status;
        private final boolean gone;
        private final boolean written;
        private final Supplier<JsonObject> object;
        private final Supplier<byte[]> bytes;

        /** What was decided without a write: {@code object} as it would be, {@code gone} if it would no longer be stored. */
        public Result(int status, JsonObject object, boolean gone) {
            this(status, gone, false, () -> object, () -> Json.writeBytes(object));
        }

        private Result(int status, boolean gone, boolean written, Supplier<JsonObject> object, Supplier<byte[]> bytes) {
            this.status = status;
            this.gone = gone;
            this.written = written;
            this.object = object;
            this.bytes = bytes;
        }

        private static Result stored(int status, Codec codec, Entry entry) {
            return new Result(
                    status, false, true, () -> codec.decode(entry), () -> codec.show(entry, entry.modRevision()));
        }

        private static Result removed(JsonObject object) {
            return new Result(200, true, true, () -> object, () -> Json.writeBytes(object));
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

        /** Whether it was written; else this was merely decided, on the object as it was read. */
        boolean written() {
            return written;
        }
    }

    /** Decides about an object as it stands, and begins to write. */
    public interface Attempt {
        CompletableFuture<Result> on(Entry entry, JsonObject object);
    }

    /** Has {@code attempt} change the existing object until nobody was faster. */
    public CompletableFuture<Result> run(WriteRequest write, Attempt attempt) {
        return run(write, store.get(write.key()), attempt);
    }

    /** Has {@code attempt} change the existing object, of which {@code known} was read just now, until nobody was faster. */
    public CompletableFuture<Result> run(WriteRequest write, Optional<Entry> known, Attempt attempt) {
        CompletableFuture<Result> result = new CompletableFuture<>();
        run(write, attempt, known, store.alone(), 1, result);
        return result;
    }

    private void run(
            WriteRequest write,
            Attempt attempt,
            Optional<Entry> found,
            boolean fresh,
            int number,
            CompletableFuture<Result> result) {
        attempt(write, attempt, found).whenComplete((done, error) -> {
            if (error != null && Failures.cause(error) instanceof StoreException.Conflict lost && number < TRIES) {
                run(write, attempt, lost.actual(), true, number + 1, result);
            } else if (error != null && Failures.cause(error) instanceof StoreException.Compacted && number < TRIES) {
                // The version was replaced, and its value is gone, before it was read.
                confirm(write, attempt, number, result);
            } else if (error != null && Failures.cause(error) instanceof StoreException failed) {
                result.completeExceptionally(
                        failed instanceof StoreException.Conflict
                                ? ApiException.modified(
                                        write.resource().type(), write.target().name())
                                : refused(failed));
            } else if (!fresh && (error != null || !done.written())) {
                confirm(write, attempt, number, result);
            } else if (error != null) {
                result.completeExceptionally(Failures.cause(error));
            } else {
                result.complete(done);
            }
        });
    }

    /** Takes a decision once more, on the object as it is now. */
    private void confirm(WriteRequest write, Attempt attempt, int number, CompletableFuture<Result> result) {
        store.read(write.key()).whenComplete((actual, error) -> {
            if (error != null) {
                result.completeExceptionally(refused(error));
            } else {
                run(write, attempt, actual, true, number + 1, result);
            }
        });
    }

    private CompletableFuture<Result> attempt(WriteRequest write, Attempt attempt, Optional<Entry> found) {
        return found.isEmpty() || found.get().atHand()
                ? decide(write, attempt, found)
                : store.load(found.get()).thenCompose(entry -> decide(write, attempt, Optional.of(entry)));
    }

    private static CompletableFuture<Result> decide(WriteRequest write, Attempt attempt, Optional<Entry> found) {
        try {
            Entry entry = found.orElseThrow(() -> ApiException.notFound(
                    write.resource().type(), write.target().name()));
            return attempt.on(entry, write.resource().codec().decode(entry));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Stores a new object. */
    CompletableFuture<Result> create(WriteRequest write, JsonObject object) {
        return store.put(write.key(), bytes(write, object), 0).handle((entry, error) -> {
            if (error == null) {
                return Result.stored(201, write.resource().codec(), entry);
            }
            throw Failures.cause(error) instanceof StoreException.Conflict
                    ? ApiException.alreadyExists(
                            write.resource().type(), write.target().name())
                    : refused(error);
        });
    }

    /** Stores what replaces {@code entry}. */
    public CompletableFuture<Result> replace(WriteRequest write, Entry entry, JsonObject object) {
        return store.put(entry.key(), bytes(write, object), entry.modRevision())
                .thenApply(stored -> Result.stored(200, write.resource().codec(), stored));
    }

    /** Removes {@code entry}, whose last state is {@code object}. */
    CompletableFuture<Result> remove(Entry entry, JsonObject object) {
        return store.delete(entry.key(), entry.modRevision()).thenApply(revision -> Result.removed(object));
    }

    private static byte[] bytes(WriteRequest write, JsonObject object) {
        byte[] bytes = write.resource().codec().encode(object);
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
        if (cause instanceof StoreException.NoSpace) {
            return new ApiException(500, "InternalError", String.valueOf(cause.getMessage()));
        }
        return cause instanceof ApiException refused
                ? refused
                : new ApiException(
                        500,
                        "InternalError",
                        "Internal error occurred: " + (cause instanceof StoreException ? cause.getMessage() : cause));
    }
}
