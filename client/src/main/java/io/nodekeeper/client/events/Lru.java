package io.nodekeeper.client.events;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that removes the least recently used entry when it is full. Not thread-safe. */
final class Lru<K, V> extends LinkedHashMap<K, V> {
    private final int limit;

    Lru(int limit) {
        super(16, 0.75f, true);
        this.limit = limit;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > limit;
    }
}
