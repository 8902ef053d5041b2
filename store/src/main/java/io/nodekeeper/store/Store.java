package io.nodekeeper.store;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Objects by key, each change at a revision; revisions never go back. A write that was acknowledged survives the process,
 * as far as the journal does. Thread-safe.
 *
 * <p>A store that is {@link #alone} is all there is: {@link #get} and {@link #list} see every write that was acknowledged.
 * One that others write to as well answers these from what it has heard so far; who must not miss anything uses
 * {@link #read}, or {@link #list} after {@link #current}.
 *
 * <p>Keys have the form {@code /registry/RESOURCE/…}; history is kept for each resource on its own, so that a busy one
 * does not push out a quiet one's.
 */
public interface Store {

    /** The revision of the latest change known; 0 before the first. */
    long revision();

    /** The object at {@code key} as of the latest change known. */
    Optional<Entry> get(String key);

    /** Whether nobody else writes to what is kept here. */
    boolean alone();

    /**
     * The object at {@code key} as of now: every write that was acknowledged before the call is seen, whoever made it. Fails
     * with {@link StoreException} if that cannot be told in time.
     */
    CompletableFuture<Optional<Entry>> read(String key);

    /**
     * Completes, with a revision, once reads see every write that was acknowledged before the call, whoever made it. Fails
     * with {@link StoreException} if that does not come to pass in time.
     */
    CompletableFuture<Long> current();

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
     * once the write is durable; it fails with {@link StoreException.Conflict} and then nothing was changed. If the journal
     * fails it fails with {@link StoreException}; a store behind a network cannot tell whether the change was made then.
     */
    CompletableFuture<Entry> put(String key, byte[] value, long expected);

    /** Removes an object if it is at {@code expected}; the result is the revision of the removal. Fails as {@link #put}. */
    CompletableFuture<Long> delete(String key, long expected);

    /**
     * Follows all changes after revision {@code after} to keys that begin with {@code prefix}, or to the one key if
     * {@code prefix} does not end in {@code /}.
     */
    Watch watch(String prefix, long after, Watcher watcher);

    /**
     * Part of the history, for those who read it at their own pace: changes after revision {@code after} as {@link #watch}
     * tells them. At least one if there is any; at most {@code count}, and no more once they have {@code bytes}, but changes
     * of one revision stay together. The values may have to be loaded.
     *
     * @throws StoreException.Compacted if they are not all kept
     */
    Changes changes(String prefix, long after, int count, long bytes);

    /**
     * The same version with its value in memory: at once if it is {@link Entry#atHand}, else once it was read from disk, on
     * a thread for that. Fails with {@link StoreException}.
     */
    default CompletableFuture<Entry> load(Entry entry) {
        return CompletableFuture.completedFuture(entry);
    }

    /** How much is stored. */
    default Usage usage() {
        return Usage.UNKNOWN;
    }

    /**
     * Whether writes work: false from a failure of the journal until a write succeeds again, and while the journal has been
     * at one group of them for more than 5 s, and while the store is as large as it may be.
     */
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
