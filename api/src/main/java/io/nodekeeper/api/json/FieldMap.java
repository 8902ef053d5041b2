package io.nodekeeper.api.json;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The ordered fields of an object in two arrays. A linear search is faster than a hash table for the few fields of most
 * API objects and takes a third of its memory; larger maps get an index. It is an unmodifiable map, except for its
 * creator, who changes it with {@link #set} and {@link #unset} and then calls {@link #compact}. Each change takes
 * constant time on average: a removal from an indexed map leaves a hole, which {@link #compact} closes. Not thread-safe
 * during creation.
 */
final class FieldMap extends AbstractMap<String, JsonValue> {
    /**
     * The most fields without an index: up to about this number a linear search is as fast as a hash table, and nearly
     * all API objects have fewer fields.
     */
    private static final int SEARCHED = 12;

    private static final String[] NO_NAMES = {};
    private static final JsonValue[] NO_VALUES = {};

    private String[] names;
    private JsonValue[] values;
    /** The length of the arrays' used part: the number of fields and of holes, where name and value are null. */
    private int used;

    private int holes;
    private @Nullable Map<String, Integer> index;

    FieldMap() {
        names = NO_NAMES;
        values = NO_VALUES;
    }

    /** A copy of {@code other}, which has no holes. */
    FieldMap(FieldMap other) {
        names = other.names.clone();
        values = other.values.clone();
        used = other.used;
        index = other.index == null ? null : new HashMap<>(other.index);
    }

    private int find(Object name) {
        Map<String, Integer> known = index;
        if (known != null) {
            Integer at = known.get(name);
            return at == null ? -1 : at;
        }
        // Names from the parser and from the code are usually the same String instance.
        for (int i = 0; i < used; i++) {
            if (names[i] == name) {
                return i;
            }
        }
        for (int i = 0; i < used; i++) {
            if (names[i].equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** Sets a field, in its place or at the end; true if the field is new. */
    boolean set(String name, JsonValue value) {
        int at = find(name);
        if (at >= 0) {
            values[at] = value;
            return false;
        }
        if (used == names.length) {
            int room = Math.max(4, used * 2);
            names = Arrays.copyOf(names, room);
            values = Arrays.copyOf(values, room);
        }
        names[used] = name;
        values[used] = value;
        used++;
        reindex(used - 1);
        return true;
    }

    /** Removes a field. */
    void unset(String name) {
        int at = find(name);
        if (at < 0) {
            return;
        }
        Map<String, Integer> known = index;
        if (known == null) {
            used--;
            System.arraycopy(names, at + 1, names, at, used - at);
            System.arraycopy(values, at + 1, values, at, used - at);
            names[used] = null;
            values[used] = null;
            return;
        }
        known.remove(name);
        names[at] = null;
        values[at] = null;
        holes++;
        if (holes > used / 2) {
            compact();
        }
    }

    /** Closes the holes that removals left. */
    void compact() {
        if (holes == 0) {
            return;
        }
        int kept = 0;
        for (int i = 0; i < used; i++) {
            if (names[i] != null) {
                names[kept] = names[i];
                values[kept] = values[i];
                kept++;
            }
        }
        Arrays.fill(names, kept, used, null);
        Arrays.fill(values, kept, used, null);
        used = kept;
        holes = 0;
        index = null;
        reindex(0);
    }

    private void reindex(int from) {
        Map<String, Integer> known = index;
        if (known == null) {
            if (used <= SEARCHED) {
                return;
            }
            known = new HashMap<>();
            index = known;
            from = 0;
        }
        for (int i = from; i < used; i++) {
            known.put(names[i], i);
        }
    }

    /** The name of field number {@code at}; there must be no holes, which is so for every object. */
    String name(int at) {
        return names[at];
    }

    /** The value of field number {@code at}. */
    JsonValue value(int at) {
        return values[at];
    }

    @Override
    public int size() {
        return used - holes;
    }

    @Override
    public @Nullable JsonValue get(Object name) {
        int at = find(name);
        return at < 0 ? null : values[at];
    }

    @Override
    public boolean containsKey(Object name) {
        return find(name) >= 0;
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super JsonValue> action) {
        for (int i = 0; i < used; i++) {
            action.accept(names[i], values[i]);
        }
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof FieldMap map)) {
            return super.equals(other);
        }
        if (map.used != used) {
            return false;
        }
        for (int i = 0; i < used; i++) {
            // Equal objects usually have their fields in the same order.
            JsonValue theirs = map.names[i].equals(names[i]) ? map.values[i] : map.get(names[i]);
            if (!values[i].equals(theirs)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        return super.hashCode();
    }

    @Override
    public Set<Entry<String, JsonValue>> entrySet() {
        return new AbstractSet<>() {
            @Override
            public int size() {
                return used;
            }

            @Override
            public Iterator<Entry<String, JsonValue>> iterator() {
                return new Iterator<>() {
                    private int next;

                    @Override
                    public boolean hasNext() {
                        return next < used;
                    }

                    @Override
                    public Entry<String, JsonValue> next() {
                        if (next == used) {
                            throw new NoSuchElementException();
                        }
                        return Map.entry(names[next], values[next++]);
                    }
                };
            }
        };
    }
}
