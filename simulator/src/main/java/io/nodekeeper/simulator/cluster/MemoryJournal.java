package io.nodekeeper.simulator.cluster;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreKeys;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A simulated disk that never fails: the next API server finds everything that was appended. Not thread-safe. */
final class MemoryJournal implements Journal {
    private final TreeMap<String, Entry> entries = new TreeMap<>();
    private final TreeMap<Long, Event> history = new TreeMap<>();
    /** For each resource with removed changes, the revision of the latest one. */
    private final TreeMap<String, Long> forgotten = new TreeMap<>();

    private long revision;

    @Override
    public Recovered load() {
        return new Recovered(
                revision, List.copyOf(entries.values()), List.copyOf(history.values()), Map.copyOf(forgotten), 0);
    }

    @Override
    public void append(List<Event> events, List<Event> removed) {
        for (Event event : removed) {
            history.remove(event.revision());
            forgotten.merge(StoreKeys.resource(event.key()), event.revision(), Math::max);
        }
        for (Event event : events) {
            event.after().ifPresentOrElse(entry -> entries.put(event.key(), entry), () -> entries.remove(event.key()));
            history.put(event.revision(), event);
            revision = event.revision();
        }
    }

    @Override
    public void close() {}
}
