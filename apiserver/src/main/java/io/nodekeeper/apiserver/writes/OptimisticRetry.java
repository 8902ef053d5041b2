package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * Optimistic writes: reads, decides, writes at the revision that was read, and retries after a conflict. Thread-safe.
 *
 * <p>On a store with other writers, the first read is from the cache, which is free: if it was stale, the write
 * conflicts. A decision without a write (a refusal, or no change) cannot conflict, so it is repeated on a fresh read
 * before the answer. After a conflict the next attempt uses the version that won, in the turn of the request's user.
 */
public final class OptimisticRetry {
    /**
     * The most attempts. Each conflict means that another write succeeded, so a correct store never needs so many: even
     * 400 concurrent writers of one object need 400. The limit ends the loop if a store misbehaves.
     */
    private static final int TRIES = 1_000;

    /** The largest object to store, in bytes: etcd's default limit. */
    private static final int OBJECT_BYTES = 3 << 19;

    private final Store store;

    public OptimisticRetry(Store store) {
        this.store = store;
    }

    /** The result of a write. A stored object is shown from its stored bytes, and decoded only on demand. */
    public static final class Result {
        private final int status;
        private final boolean gone;
        private final boolean written;
        private final Supplier<JsonObject> object;
        private final Supplier<byte[]> bytes;

        /**
         * The result of a decision without a write: {@code object} as it would be, {@code gone} if it would no longer
         * be stored.
         */
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

        /** The current object, with its resource version. */
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

        /** Whether it was written; otherwise the result is only a decision about the object that was read. */
        boolean written() {
            return written;
        }
    }

    /** Decides about the current object, and starts the write. */
    public interface Attempt {
        CompletableFuture<Result> on(Entry entry, JsonObject object);

        /** Decides about an object that does not exist: refuses the write, unless {@link #orCreate} says otherwise. */
        default CompletableFuture<Result> onAbsent(WriteRequest write) {
            throw ApiException.notFound(write.resource().type(), write.target().name());
        }

        /**
         * The same attempt, with {@code create} for an object that does not exist. It fails with a conflict if another write creates
         * the object first, so that the next attempt changes that one.
         */
        default Attempt orCreate(Supplier<CompletableFuture<Result>> create) {
            Attempt change = this;
            return new Attempt() {
                @Override
                public CompletableFuture<Result> on(Entry entry, JsonObject object) {
                    return change.on(entry, object);
                }

                @Override
                public CompletableFuture<Result> onAbsent(WriteRequest write) {
                    return create.get();
                }
            };
        }
    }

    /** Calls {@code attempt} for the current object until its write has no conflict. */
    public CompletableFuture<Result> run(WriteRequest write, Attempt attempt) {
        CompletableFuture<Result> result = new CompletableFuture<>();
        run(write, attempt, store.get(write.key()), store.alone(), 1, result);
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
                again(write, attempt, lost.actual(), number, result);
            } else if (error != null && Failures.cause(error) instanceof StoreException.Compacted && number < TRIES) {
                // The version was replaced and its value deleted before it was read.
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

    /** Repeats a decision with the current object. */
    private void confirm(WriteRequest write, Attempt attempt, int number, CompletableFuture<Result> result) {
        store.read(write.key()).whenComplete((actual, error) -> {
            if (error != null) {
                result.completeExceptionally(refused(error));
            } else {
                again(write, attempt, actual, number, result);
            }
        });
    }

    /**
     * The next attempt, in its turn: the store's thread, which ended the last one, must not parse and check objects, because all
     * other writes would wait.
     */
    private void again(
            WriteRequest write, Attempt attempt, Optional<Entry> actual, int number, CompletableFuture<Result> result) {
        try {
            write.turn().execute(() -> run(write, attempt, actual, true, number + 1, result));
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            result.completeExceptionally(
                    refused(new StoreException("no thread for another attempt: " + e.getMessage(), e)));
        }
    }

    private CompletableFuture<Result> attempt(WriteRequest write, Attempt attempt, Optional<Entry> found) {
        return found.isEmpty() || found.get().atHand()
                ? decide(write, attempt, found)
                : store.load(found.get()).thenCompose(entry -> decide(write, attempt, Optional.of(entry)));
    }

    private static CompletableFuture<Result> decide(WriteRequest write, Attempt attempt, Optional<Entry> found) {
        try {
            if (found.isEmpty()) {
                return attempt.onAbsent(write);
            }
            Entry entry = found.get();
            return attempt.on(entry, write.resource().codec().decode(entry));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Stores a new object; fails with a conflict if it exists. */
    CompletableFuture<Result> insert(WriteRequest write, JsonObject object) {
        return store.put(write.key(), bytes(write, object), 0)
                .thenApply(entry -> Result.stored(201, write.resource().codec(), entry));
    }

    /** Stores a new object; refuses one that exists. */
    CompletableFuture<Result> create(WriteRequest write, JsonObject object) {
        return insert(write, object).handle((created, error) -> {
            if (error == null) {
                return created;
            }
            throw Failures.cause(error) instanceof StoreException.Conflict
                    ? ApiException.alreadyExists(
                            write.resource().type(), write.target().name())
                    : refused(error);
        });
    }

    /** Stores what replaces {@code entry}. */
    public CompletableFuture<Result> replace(WriteRequest write, Entry entry, JsonObject object) {
        byte[] bytes = bytes(write, object);
        return (write.resource().strategy().isRenewed()
                        ? store.putBatched(entry.key(), bytes, entry.modRevision())
                        : store.put(entry.key(), bytes, entry.modRevision()))
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

    /** The answer for a failure of the store. */
    static RuntimeException refused(Throwable error) {
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
