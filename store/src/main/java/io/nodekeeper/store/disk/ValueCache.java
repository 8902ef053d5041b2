package io.nodekeeper.store.disk;

import java.util.LinkedHashMap;
import java.util.Optional;

/** An LRU cache of values by the revision of their version. Thread-safe. */
final class ValueCache {
    /** Bytes that an entry of the map costs besides its value: the entry, the key and the header of the array. */
    private static final int OVERHEAD = 100;

    private final long limit;
    /** In access order. Bound: {@link #limit} bytes in total, each value counted with {@link #OVERHEAD}. */
    private final LinkedHashMap<Long, byte[]> values = new LinkedHashMap<>(16, 0.75f, true);

    private long bytes;

    /** A cache of at most {@code limit} bytes. */
    ValueCache(long limit) {
        this.limit = limit;
    }

    synchronized Optional<byte[]> get(long revision) {
        return Optional.ofNullable(values.get(revision));
    }

    /** Whether the cache holds the value. This does not count as an access. */
    synchronized boolean has(long revision) {
        return values.containsKey(revision);
    }

    /** Adds {@code value} and evicts the least recently used ones. Ignores a value larger than a quarter of the limit. */
    synchronized void put(long revision, byte[] value) {
        if (value.length > limit / 4) {
            return;
        }
        byte[] old = values.put(revision, value);
        bytes += cost(value) - (old == null ? 0 : cost(old));
        var oldest = values.entrySet().iterator();
        while (bytes > limit && oldest.hasNext()) {
            bytes -= cost(oldest.next().getValue());
            oldest.remove();
        }
    }

    /** Forgets the value of a revision. */
    synchronized void remove(long revision) {
        byte[] old = values.remove(revision);
        if (old != null) {
            bytes -= cost(old);
        }
    }

    /** Bytes of all values, including the overhead. */
    synchronized long bytes() {
        return bytes;
    }

    private static long cost(byte[] value) {
        return value.length + (long) OVERHEAD;
    }
}
