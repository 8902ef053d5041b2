package io.nodekeeper.store.memory;

/**
 * The limits of a store.
 *
 * @param history the limits of the history
 * @param quota maximum bytes of the latest versions of all objects, keys and values
 * @param heap maximum bytes of memory for these: the index, and the values that are not left in the journal
 */
public record StoreLimits(WatchCache.Limits history, long quota, long heap) {
    /** etcd's default for {@code --quota-backend-bytes}. */
    public static final long QUOTA = 2L << 30;

    /**
     * The history of {@link WatchCache.Limits#DEFAULT}, {@link #QUOTA}, and half of the heap. The other half is for history,
     * caches, requests and responses.
     */
    public static final StoreLimits DEFAULT = new StoreLimits(
            WatchCache.Limits.DEFAULT, QUOTA, Runtime.getRuntime().maxMemory() / 2);

    /** The same limits with a quota of {@code bytes}. */
    public StoreLimits quota(long bytes) {
        return new StoreLimits(history, bytes, heap);
    }
}
