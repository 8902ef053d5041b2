package io.nodekeeper.store;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A key-value store with revisions, in the terms of etcd. Each change has a revision, and revisions only grow. An acknowledged
 * write is as durable as the journal behind the store. Thread-safe.
 *
 * <p>If this process is the only writer ({@link #alone}), {@link #get} and {@link #list} return every acknowledged write. If
 * other processes write, too, these two may return an older state. A caller that needs the latest state uses {@link #read}, or
 * {@link #list} after {@link #current}.
 *
 * <p>Keys have the form {@code /registry/RESOURCE/...}. Each resource has a history of its own, so that a resource with many
 * changes does not shorten the history of another one.
 */
public interface Store {

    /** The latest revision that this process has seen; 0 before the first change. */
    long revision();

    /** The object at {@code key} as of {@link #revision}. */
    Optional<Entry> get(String key);

    /** Whether this process is the only writer of the data. */
    boolean alone();

    /**
     * A linearizable read of the object at {@code key}: it returns every write that was acknowledged before the call, by any
     * process. Fails with {@link StoreException} if the storage does not answer in time.
     */
    CompletableFuture<Optional<Entry>> read(String key);

    /**
     * Completes once {@link #get} and {@link #list} return every write that was acknowledged before the call, by any process.
     * The result is the revision of that state. Fails with {@link StoreException} if the storage does not answer in time.
     */
    CompletableFuture<Long> current();

    /**
     * Lists the objects whose keys begin with {@code prefix}.
     *
     * @param prefix of the form {@code /registry/RESOURCE/…}
     * @param after only keys greater than this one; empty for all
     * @param limit the maximum number of entries; 0 for no limit
     * @param revision the revision of the list; 0 for the latest
     * @throws StoreException.Compacted if that revision was compacted
     * @throws StoreException if that revision is in the future
     */
    Listing list(String prefix, String after, int limit, long revision);

    /**
     * Writes an object if it is at revision {@code expected}; 0 means that the object must not exist. Completes when the write
     * is durable. Fails with {@link StoreException.Conflict} if the object is at another revision; then nothing was changed.
     * Fails with {@link StoreException} if the journal or the network fails. Then the write may have been made all the same:
     * another process may see it, or this one after a restart.
     */
    CompletableFuture<Entry> put(String key, byte[] value, long expected);

    /**
     * As {@link #put}, for a write whose client does not need the answer at once, such as a renewal every 10 s. Under load it waits
     * some milliseconds, so that writes that arrive in that time are committed together; see {@link #commits}. This default does not
     * wait.
     */
    default CompletableFuture<Entry> putBatched(String key, byte[] value, long expected) {
        return put(key, value, expected);
    }

    /** How writes were grouped. */
    default Commits commits() {
        return Commits.UNKNOWN;
    }

    /** Deletes an object if it is at revision {@code expected}. Returns the deletion's revision. Fails as {@link #put} does. */
    CompletableFuture<Long> delete(String key, long expected);

    /**
     * Watches all changes after revision {@code after} of keys that begin with {@code prefix}, or of the one key if
     * {@code prefix} does not end in {@code /}.
     */
    Watch watch(String prefix, long after, Watcher watcher);

    /**
     * Reads one page of the changes after revision {@code after}, in the order in which {@link #watch} delivers them. The page
     * has at least one change if one exists. It ends after {@code count} changes or {@code bytes} bytes, but never between
     * changes of one revision. The values may need {@link #load}.
     *
     * @throws StoreException.Compacted if the history no longer contains all these changes
     */
    Changes changes(String prefix, long after, int count, long bytes);

    /**
     * The same version with its value in memory. Completes at once if the value is {@link Entry#atHand}, otherwise after a
     * reader thread has read it from disk. Fails with {@link StoreException}.
     */
    default CompletableFuture<Entry> load(Entry entry) {
        return CompletableFuture.completedFuture(entry);
    }

    /** The most changes of a resource with which a watch can begin; 0 if that is unknown. Fewer are kept if they are large, or old. */
    default int capacity() {
        return 0;
    }

    /** The size of the store and its quota. */
    default Usage usage() {
        return Usage.UNKNOWN;
    }

    /**
     * Whether writes succeed. False from a failure of the journal until the next successful write, while one group of writes
     * has taken more than 5 s, and while the store has reached its quota.
     */
    boolean healthy();

    /**
     * Refuses further writes, commits the queued ones, and closes the journal and the loop. Completes when that is done.
     */
    CompletableFuture<Void> close();

    /** Receives changes one at a time, ordered by revision, on one thread at a time. Must not block. */
    interface Watcher {
        /** Called for each change. */
        void onEvent(Event event);

        /**
         * Called after one or more calls of {@link #onEvent}, when no more changes are at hand. A watcher may pass its changes on
         * together then.
         */
        default void onSettled() {}

        /** Called if the requested history was compacted, or if this watcher failed at a change. The watch ends. */
        void onCompacted(StoreException.Compacted why);
    }

    /** An open watch. */
    interface Watch {
        /** Ends the watch. An event that is already being delivered may still arrive. Idempotent. */
        void cancel();
    }
}
