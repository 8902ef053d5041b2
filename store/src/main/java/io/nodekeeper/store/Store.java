package io.nodekeeper.store;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Objects by key, each change at a revision of its own. A write that was acknowledged is seen by every later read and
 * survives the process, as far as the journal does; revisions never go back. Thread-safe.
 *
 * <p>Keys have the form {@code /registry/RESOURCE/…}; history is kept for each resource on its own, so that a busy one
 * does not push out a quiet one's.
 */
public interface Store {

    /** The revision of the latest change; 0 before the first. */
    long revision();

    /** The object at {@code key} as of the latest change. */
    Optional<Entry> get(String key);

    /**
     * The objects whose keys begin with {@code prefix}.
     *
     * @param prefix of the form {@code /registry/RESOURCE/…}
     * @param after only keys greater than this one; empty for all
     * @param limit the most entries to return; 0 for no limit
     * @param revision the revision at which to look; 0 for the latest
     * @throws StoreException.Compacted if that revision is no longer known
     * @throws StoreException if it is yet to come
     */
    Listing list(String prefix, String after, int limit, long revision);

    /**
     * Writes an object if it is at {@code expected}, which is 0 for an object that must not be there yet. The result comes
     * once the write is durable; it fails with {@link StoreException.Conflict} or, if the journal fails, with
     * {@link StoreException}, and then nothing was changed.
     */
    CompletableFuture<Entry> put(String key, byte[] value, long expected);

    /** Removes an object if it is at {@code expected}; the result is the revision of the removal. Fails as {@link #put}. */
    CompletableFuture<Long> delete(String key, long expected);

    /**
     * Follows all changes after revision {@code after} to keys that begin with {@code prefix}, or to the one key if
     * {@code prefix} does not end in {@code /}.
     */
    Watch watch(String prefix, long after, Watcher watcher);

    /** Whether writes work: false from a failure of the journal until a write succeeds again. */
    boolean healthy();

    /**
     * Commits what waits and closes the journal and the loop; writes that
     * follow are refused. The result comes when that is done.
     */
    CompletableFuture<Void> close();

    /** Hears of changes; called one at a time, in the order of revisions, and must not block. */
    interface Watcher {
        /** One change. */
        void onEvent(Event event);

        /** The history that was asked for is gone; nothing else comes. */
        void onCompacted(StoreException.Compacted why);
    }

    /** A watch under way. */
    interface Watch {
        /** Ends it; an event that is on its way may still come. Idempotent. */
        void cancel();
    }
}
