package io.nodekeeper.store;

/**
 * What a store may take.
 *
 * @param history how much history it keeps
 * @param quota bytes of the latest versions of all objects, keys and values
 * @param heap bytes that these may take in memory: the index, and the values that are not left in the journal
 */
public record StoreLimits(Window.Limits history, long quota, long heap) {
    /** etcd's default for {@code --quota-backend-bytes}. */
    public static final long QUOTA = 2L << 30;

    /**
     * History as {@link Window.Limits#DEFAULT}, {@link #QUOTA}, and half of the heap: the rest is for history, caches,
     * requests and answers.
     */
    public static final StoreLimits DEFAULT =
            new StoreLimits(Window.Limits.DEFAULT, QUOTA, Runtime.getRuntime().maxMemory() / 2);

    /** The same with another quota, in bytes. */
    public StoreLimits quota(long bytes) {
        return new StoreLimits(history, bytes, heap);
    }
}
