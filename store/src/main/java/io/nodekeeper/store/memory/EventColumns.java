package io.nodekeeper.store.memory;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.ValueReader;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of places for changes. A change whose values can be read later has no objects here, only its numbers in one
 * array for each field: a collection of the heap visits each object, and a server keeps 100,000 changes of leases. Other changes are
 * kept as they are. Not thread-safe.
 */
final class EventColumns {
    /** The length of a version that does not exist. */
    private static final int NONE = -1;

    private final long[] times;
    private final long[] revisions;
    private final @Nullable String[] keys;
    /** Revisions at which the changed objects were created. */
    private final long[] created;
    /** Revisions of the versions before the changes. */
    private final long[] replaced;

    private final int[] lengthsBefore;
    private final int[] lengthsAfter;

    /** The changes that are not in the columns, at their places. */
    private final @Nullable Event[] whole;

    /** Reads the values of all changes that are in the columns. */
    private @Nullable ValueReader values;

    EventColumns(int length) {
        times = new long[length];
        revisions = new long[length];
        keys = new String[length];
        created = new long[length];
        replaced = new long[length];
        lengthsBefore = new int[length];
        lengthsAfter = new int[length];
        whole = new Event[length];
    }

    /** The number of places. */
    int length() {
        return whole.length;
    }

    /** Keeps {@code event}, which was added at {@code time}, at {@code place}. */
    void set(int place, Event event, long time) {
        times[place] = time;
        revisions[place] = event.revision();
        if (!fits(event)) {
            keys[place] = null;
            whole[place] = event;
            return;
        }
        keys[place] = event.key();
        created[place] =
                event.after().or(event::before).map(Entry::createRevision).orElse(0L);
        replaced[place] = event.before().map(Entry::modRevision).orElse(0L);
        lengthsBefore[place] = event.before().map(Entry::length).orElse(NONE);
        lengthsAfter[place] = event.after().map(Entry::length).orElse(NONE);
        whole[place] = null;
    }

    /** Whether {@link #get} can make the same change again from the columns. */
    private boolean fits(Event event) {
        boolean oneObject = event.before().isEmpty()
                || event.after().isEmpty()
                || event.before().get().createRevision() == event.after().get().createRevision();
        boolean ownRevision = event.after().isEmpty() || event.after().get().modRevision() == event.revision();
        return oneObject && ownRevision && readable(event.before()) && readable(event.after());
    }

    private boolean readable(Optional<Entry> version) {
        if (version.isEmpty()) {
            return true;
        }
        Optional<ValueReader> reader = version.get().reader();
        if (values == null) {
            values = reader.orElse(null);
        }
        return reader.isPresent() && reader.get() == values;
    }

    /** The change at {@code place}, which must not be empty. */
    Event get(int place) {
        Event kept = whole[place];
        if (kept != null) {
            return kept;
        }
        String key = Objects.requireNonNull(keys[place]);
        return new Event(
                revisions[place],
                key,
                version(key, lengthsBefore[place], created[place], replaced[place]),
                version(key, lengthsAfter[place], created[place], revisions[place]));
    }

    private Optional<Entry> version(String key, int length, long createRevision, long modRevision) {
        return length == NONE
                ? Optional.empty()
                : Optional.of(Entry.stored(key, length, Objects.requireNonNull(values), createRevision, modRevision));
    }

    /** The key of the change at {@code place}, which must not be empty; makes no object. */
    String key(int place) {
        Event kept = whole[place];
        return kept == null ? Objects.requireNonNull(keys[place]) : kept.key();
    }

    /** The revision of the change at {@code place}. */
    long revision(int place) {
        return revisions[place];
    }

    /** The time of the change at {@code place}. */
    long time(int place) {
        return times[place];
    }

    /** Empties {@code place}. */
    void clear(int place) {
        keys[place] = null;
        whole[place] = null;
    }
}
