package io.nodekeeper.store.disk;

import java.util.List;

/**
 * Decides which of the latest values stay on disk, where they are read when they are needed. All others are in memory, too. Immutable.
 *
 * @param seldomRead prefixes of the keys of values that are seldom read, and stay on disk whatever their length
 */
record ValuePlacement(List<String> seldomRead) {
    /**
     * Longer values stay on disk. Nodes and pods have 3 to 20 KB. Leases, which change most often, have less than 1 KB and stay
     * in memory.
     */
    static final int LARGE = 2_048;

    /** Only the length decides. */
    static final ValuePlacement BY_LENGTH = new ValuePlacement(List.of());

    /** All values stay on disk, for readers that need each of them at most once. */
    static final ValuePlacement ALL_ON_DISK = new ValuePlacement(List.of(""));

    ValuePlacement {
        seldomRead = List.copyOf(seldomRead);
    }

    /** Whether a value of {@code length} bytes stays on disk. */
    boolean onDisk(String key, int length) {
        return length > LARGE || isSeldomRead(key);
    }

    /** Whether the value is seldom read. */
    boolean isSeldomRead(String key) {
        for (String prefix : seldomRead) {
            if (key.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }
}
