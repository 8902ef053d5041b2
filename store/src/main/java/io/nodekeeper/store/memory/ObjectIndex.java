package io.nodekeeper.store.memory;

import io.nodekeeper.store.Entry;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * The newest version of each object by its key: hashed for reads of one object, and ordered for lists. Both maps point to the same
 * place of an object, so a change of an existing object is one hashed look-up. Keys of one resource share a long beginning, and in a
 * tree of 30,000 each look-up would compare some fifteen of them, none of which is in a processor's cache.
 *
 * <p>One thread writes. {@link #get} may be called by any thread; {@link #below} needs a lock that keeps the writer out.
 */
final class ObjectIndex {
    /** Where the newest version of an object is. */
    static final class Place {
        private volatile Entry entry;

        private Place(Entry entry) {
            this.entry = entry;
        }

        Entry entry() {
            return entry;
        }
    }

    private final Map<String, Place> hashed = new ConcurrentHashMap<>();
    private final NavigableMap<String, Place> ordered = new ConcurrentSkipListMap<>();

    /** The object at {@code key}. */
    Optional<Entry> get(String key) {
        @Nullable Place place = hashed.get(key);
        return place == null ? Optional.empty() : Optional.of(place.entry);
    }

    /** Makes {@code entry} the newest version of its object. */
    void put(Entry entry) {
        @Nullable Place known = hashed.get(entry.key());
        if (known != null) {
            known.entry = entry;
            return;
        }
        Place place = new Place(entry);
        ordered.put(entry.key(), place);
        hashed.put(entry.key(), place);
    }

    void remove(String key) {
        hashed.remove(key);
        ordered.remove(key);
    }

    /** Makes {@code entries} all objects. Who gets an object that was and is there finds it at each moment. */
    void replace(Collection<Entry> entries) {
        Set<String> keys = new HashSet<>();
        for (Entry entry : entries) {
            put(entry);
            keys.add(entry.key());
        }
        hashed.keySet().retainAll(keys);
        ordered.keySet().retainAll(keys);
    }

    /** The objects whose keys begin with {@code prefix}, in the order of their keys: a view. */
    NavigableMap<String, Place> below(String prefix) {
        if (prefix.isEmpty()) {
            return ordered;
        }
        int last = prefix.length() - 1;
        // The first key that is after all of them, whatever characters they have.
        String end = prefix.substring(0, last) + (char) (prefix.charAt(last) + 1);
        return ordered.subMap(prefix, true, end, false);
    }

    /** The number of objects. */
    int size() {
        return hashed.size();
    }
}
