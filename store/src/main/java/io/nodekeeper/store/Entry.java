package io.nodekeeper.store;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One version of an object. Its value is in memory, or the journal keeps it and it is read when it is needed. Two entries
 * are equal if they are the same version of the same object. Immutable, thread-safe.
 */
public final class Entry {
    private final String key;
    private final long createRevision;
    private final long modRevision;
    private final int length;
    private final byte @Nullable [] value;
    private final @Nullable Values values;

    /**
     * A version with its value in memory.
     *
     * @param key its place, as {@code /registry/minions/n1}
     * @param value its bytes, shared by all readers and never to be changed; the revision is not inside
     * @param createRevision the revision at which the object was created, 1 or more
     * @param modRevision the revision of this version, 1 or more
     */
    public Entry(String key, byte[] value, long createRevision, long modRevision) {
        this(key, createRevision, modRevision, value.length, value, null);
    }

    private Entry(
            String key,
            long createRevision,
            long modRevision,
            int length,
            byte @Nullable [] value,
            @Nullable Values values) {
        this.key = key;
        this.createRevision = createRevision;
        this.modRevision = modRevision;
        this.length = length;
        this.value = value;
        this.values = values;
    }

    /** A version whose value of {@code length} bytes is read from {@code values} each time that it is asked for. */
    static Entry stored(String key, int length, Values values, long createRevision, long modRevision) {
        return new Entry(key, createRevision, modRevision, length, null, values);
    }

    /** The object's place. */
    public String key() {
        return key;
    }

    /**
     * The bytes of the object, never to be changed. Reads the disk unless {@link #atHand}, so that loops and I/O threads
     * call {@link Store#load} first.
     *
     * @throws StoreException if the value cannot be read
     * @throws StoreException.Compacted if the version is no longer kept
     */
    public byte[] value() {
        return value != null ? value : Objects.requireNonNull(values).read(key, modRevision);
    }

    /** How many bytes the value has. */
    public int length() {
        return length;
    }

    /** The revision at which the object was created. */
    public long createRevision() {
        return createRevision;
    }

    /** The revision of this version. */
    public long modRevision() {
        return modRevision;
    }

    /** Whether {@link #value} needs no disk now: the value is in memory, for good or in a cache. */
    public boolean atHand() {
        return value != null || Objects.requireNonNull(values).cached(modRevision);
    }

    /** Bytes of the value that this entry itself keeps in memory. */
    public int resident() {
        return value == null ? 0 : length;
    }

    /** The same version with its value in memory; reads the disk if need be. */
    Entry loaded() {
        return value != null ? this : new Entry(key, value(), createRevision, modRevision);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Entry entry
                && modRevision == entry.modRevision
                && createRevision == entry.createRevision
                && key.equals(entry.key);
    }

    @Override
    public int hashCode() {
        return 31 * key.hashCode() + Long.hashCode(modRevision);
    }

    @Override
    public String toString() {
        return key + "@" + modRevision + " (" + length + " bytes)";
    }
}
