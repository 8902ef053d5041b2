package io.nodekeeper.store;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One version of an object. Its value is in memory, or it is read from the journal when it is needed. Two entries are equal
 * if they are the same version of the same object. Immutable, thread-safe.
 */
public final class Entry {
    private final String key;
    private final long createRevision;
    private final long modRevision;
    private final int length;
    private final byte @Nullable [] value;
    private final @Nullable ValueReader values;

    /**
     * A version with its value in memory.
     *
     * @param key the storage key, for example {@code /registry/minions/n1}
     * @param value the stored bytes, shared by all readers; must not be modified; they do not contain the revision
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
            @Nullable ValueReader values) {
        this.key = key;
        this.createRevision = createRevision;
        this.modRevision = modRevision;
        this.length = length;
        this.value = value;
        this.values = values;
    }

    /** A version whose value of {@code length} bytes is read from {@code values} on each call of {@link #value}. */
    public static Entry stored(String key, int length, ValueReader values, long createRevision, long modRevision) {
        return new Entry(key, createRevision, modRevision, length, null, values);
    }

    /** The storage key. */
    public String key() {
        return key;
    }

    /**
     * The bytes of the object, which must not be modified. Reads the disk unless {@link #atHand}. Loops and I/O threads call
     * {@link Store#load} first.
     *
     * @throws StoreException if the value cannot be read
     * @throws StoreException.Compacted if the version is no longer kept
     */
    public byte[] value() {
        return value != null ? value : Objects.requireNonNull(values).read(key, modRevision);
    }

    /** The length of the value in bytes. */
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

    /** Whether {@link #value} needs no disk read now: the entry or a cache holds the value in memory. */
    public boolean atHand() {
        return value != null || Objects.requireNonNull(values).cached(modRevision);
    }

    /** Reads the value; empty if the entry holds it in memory. */
    public Optional<ValueReader> reader() {
        return Optional.ofNullable(values);
    }

    /** Bytes of the value that this entry itself holds in memory; 0 if the value is in the journal. */
    public int resident() {
        return value == null ? 0 : length;
    }

    /** The same version with its value in memory. Reads the disk unless {@link #atHand}. */
    public Entry loaded() {
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
