package io.nodekeeper.store;

import java.util.LinkedHashMap;
import java.util.Optional;

/** The values last used, by the revision of their version. Thread-safe. */
final class ValueCache {
    /** What an entry of the map costs besides its value: the entry, the key, the head of the array. */
    private static final int OVERHEAD = 100;

    private final long limit;
    /** In the order of use. Bound: {@link #limit} bytes in all, each value counted with {@link #OVERHEAD}. */
    private final LinkedHashMap<Long, byte[]> values = new LinkedHashMap<>(16, 0.75f, true);

    private long bytes;

    /** Keeps at most {@code limit} bytes. */
    ValueCache(long limit) {
        this.limit = limit;
    }

    synchronized Optional<byte[]> get(long revision) {
        return Optional.ofNullable(values.get(revision));
    }

    /** Whether the value is there; this does not count as a use. */
    synchronized boolean has(long revision) {
        return values.containsKey(revision);
    }

    /** Keeps {@code value}; drops the values that were not used for longest. A value larger than a quarter is not kept. */
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

    /** The bytes that are kept, with the overhead. */
    synchronized long bytes() {
        return bytes;
    }

    private static long cost(byte[] value) {
        return value.length + (long) OVERHEAD;
    }
}
