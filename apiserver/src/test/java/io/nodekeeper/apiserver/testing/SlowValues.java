package io.nodekeeper.apiserver.testing;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.ValueReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A journal whose values below one prefix are not at hand, as on a disk. Counts the reads, which can fail. Not thread-safe. */
public final class SlowValues implements Journal, ValueReader {
    private final String prefix;
    private final Map<Long, byte[]> values = new HashMap<>();
    private int reads;
    private boolean failing;

    public SlowValues(String prefix) {
        this.prefix = prefix;
    }

    /** How many values were read. */
    public int reads() {
        return reads;
    }

    /** Lets all later reads fail, or succeed. */
    public void failing(boolean fails) {
        failing = fails;
    }

    @Override
    public Recovered load() {
        return new Recovered(0, List.of(), List.of());
    }

    @Override
    public void append(List<Event> events, List<Event> forgotten) {}

    @Override
    public Entry stored(Entry entry) {
        if (!entry.key().startsWith(prefix)) {
            return entry;
        }
        values.put(entry.modRevision(), entry.value());
        return Entry.stored(entry.key(), entry.length(), this, entry.createRevision(), entry.modRevision());
    }

    @Override
    public byte[] read(String key, long revision) {
        if (failing) {
            throw new StoreException("cannot read " + key + ": the disk failed", null);
        }
        reads++;
        return values.getOrDefault(revision, new byte[0]);
    }

    @Override
    public boolean cached(long revision) {
        return false;
    }

    @Override
    public void close() {}
}
