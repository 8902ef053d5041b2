package io.nodekeeper.store;

/** Reads values that entries do not hold in memory. Implementations are thread-safe. */
public interface ValueReader {
    /**
     * The value of the version of {@code key} at {@code revision}.
     *
     * @throws StoreException if it cannot be read
     * @throws StoreException.Compacted if that version is no longer kept
     */
    byte[] read(String key, long revision);

    /** Whether {@link #read} of the version at {@code revision} needs no disk read now. */
    boolean cached(long revision);
}
