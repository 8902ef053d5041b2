package io.nodekeeper.store;

/** Where values are that are not kept in memory. Thread-safe. */
interface Values {
    /**
     * The value of the version of {@code key} at {@code revision}.
     *
     * @throws StoreException if it cannot be read
     * @throws StoreException.Compacted if that version is no longer kept
     */
    byte[] read(String key, long revision);

    /** Whether the value of the version at {@code revision} would be answered without the disk. */
    boolean cached(long revision);
}
