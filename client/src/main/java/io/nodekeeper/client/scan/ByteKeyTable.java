package io.nodekeeper.client.scan;

import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A map from names to values with look-ups by a name's bytes, without creating a string, which {@link
 * java.util.HashMap} cannot do. It uses open addressing with linear probing; at most half of the slots are used, and a
 * removal closes the gap, so that chains stay short. The order of iteration is unspecified, but the same for the same
 * history. The result for an absent name is null, because an Optional for each renewal would be garbage that this class
 * avoids. Not thread-safe.
 */
public final class ByteKeyTable<V> {
    private static final int SMALLEST = 16;

    private @Nullable String[] keys = new @Nullable String[SMALLEST];
    private @Nullable Object[] values = new @Nullable Object[SMALLEST];
    private int size;

    /** The value of the name with these ASCII bytes; null if there is none. */
    public @Nullable V get(byte[] bytes, int from, int length) {
        return get(bytes, from, length, hash(bytes, from, length));
    }

    /** As {@link #get(byte[], int, int)} for a caller who knows the name's {@link String#hashCode}. */
    public @Nullable V get(byte[] bytes, int from, int length, int hash) {
        int slot = slot(hash);
        while (true) {
            String key = keys[slot];
            if (key == null) {
                return null;
            }
            if (key.hashCode() == hash && JsonCursor.is(bytes, from, length, key)) {
                return value(slot);
            }
            slot = after(slot);
        }
    }

    /** The value of {@code key}; null if there is none. */
    public @Nullable V get(String key) {
        int slot = find(key);
        return keys[slot] == null ? null : value(slot);
    }

    /** Sets the value of {@code key}. */
    public void put(String key, V value) {
        int slot = find(key);
        if (keys[slot] == null) {
            if (2 * (size + 1) > keys.length) {
                grow();
                slot = find(key);
            }
            size++;
        }
        keys[slot] = key;
        values[slot] = value;
    }

    /** Removes {@code key}; its value so far, or null if there was none. */
    public @Nullable V remove(String key) {
        int gap = find(key);
        if (keys[gap] == null) {
            return null;
        }
        V removed = value(gap);
        size--;
        int next = after(gap);
        while (true) {
            String moved = keys[next];
            if (moved == null) {
                break;
            }
            // It may move back only if its own slot is not behind the gap.
            int mask = keys.length - 1;
            if (((next - slot(moved.hashCode())) & mask) >= ((next - gap) & mask)) {
                keys[gap] = moved;
                values[gap] = values[next];
                gap = next;
            }
            next = after(next);
        }
        keys[gap] = null;
        values[gap] = null;
        return removed;
    }

    /** The number of names. */
    public int size() {
        return size;
    }

    /** Passes every value to {@code consumer}, which must not change the table. */
    public void forEach(Consumer<? super V> consumer) {
        for (int slot = 0; slot < keys.length; slot++) {
            if (keys[slot] != null) {
                consumer.accept(Objects.requireNonNull(value(slot)));
            }
        }
    }

    /** {@link String#hashCode} of the ASCII text in these bytes. */
    static int hash(byte[] bytes, int from, int length) {
        int hash = 0;
        for (int i = from; i < from + length; i++) {
            hash = 31 * hash + bytes[i];
        }
        return hash;
    }

    private int find(String key) {
        int slot = slot(key.hashCode());
        while (true) {
            String there = keys[slot];
            if (there == null || there.equals(key)) {
                return slot;
            }
            slot = after(slot);
        }
    }

    private void grow() {
        @Nullable String[] oldKeys = keys;
        @Nullable Object[] oldValues = values;
        keys = new @Nullable String[2 * oldKeys.length];
        values = new @Nullable Object[2 * oldKeys.length];
        for (int i = 0; i < oldKeys.length; i++) {
            String key = oldKeys[i];
            if (key != null) {
                int slot = find(key);
                keys[slot] = key;
                values[slot] = oldValues[i];
            }
        }
    }

    /** Names of nodes differ in their last characters; the multiplication spreads these over the table. */
    private int slot(int hash) {
        return (hash * 0x9E3779B9) >>> Integer.numberOfLeadingZeros(keys.length - 1);
    }

    private int after(int slot) {
        return (slot + 1) & (keys.length - 1);
    }

    @SuppressWarnings("unchecked")
    private @Nullable V value(int slot) {
        return (V) values[slot];
    }
}
