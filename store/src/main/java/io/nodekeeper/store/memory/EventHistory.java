package io.nodekeeper.store.memory;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The latest changes of one resource. Watches resume from it, and lists at an earlier revision are computed from it. A change
 * costs the memory of the version that it replaced, because nothing else keeps that version. If that version comes without its
 * value, because it can be read later, then the earlier change that made it does not keep the value either. Not thread-safe:
 * the owner's lock guards it.
 */
final class EventHistory {
    /** About how many bytes a change costs besides its key and the replaced version: the event, its two entries and its slot here. */
    static final int OVERHEAD = 160;

    /** The most bytes of memory of a character of a key. */
    private static final long CHARACTER = 2;

    /** A ring buffer. The owner bounds it by {@link WatchCache.Limits}. */
    private EventColumns events = new EventColumns(16);

    private int first;
    private int size;

    /** All changes after this revision are known; the changes up to it are not. */
    private long start;

    private long memory;
    private long stored;

    EventHistory(long start) {
        this.start = start;
    }

    /** Bytes of memory that {@code event} costs. */
    static long memory(Event event) {
        return OVERHEAD
                + CHARACTER * event.key().length()
                + event.before().map(Entry::resident).orElse(0);
    }

    /** Bytes that {@code event} costs where values are stored. */
    static long stored(Event event) {
        return OVERHEAD + event.before().map(Entry::length).orElse(0);
    }

    /** The history contains every change after this revision. */
    long start() {
        return start;
    }

    /** The number of changes. */
    int size() {
        return size;
    }

    /** Bytes of memory that all changes cost. */
    long memory() {
        return memory;
    }

    /** Bytes that all changes cost where values are stored. */
    long stored() {
        return stored;
    }

    /** The change at {@code index}; 0 is the oldest. */
    Event get(int index) {
        return events.get(slot(index));
    }

    /** The key of the change at {@code index}. This is cheaper than to read the change, which creates it on each call. */
    String key(int index) {
        return events.key(slot(index));
    }

    /** The time at which the change at {@code index} was added, in nanoseconds of the owner's clock. */
    long time(int index) {
        return events.time(slot(index));
    }

    private int slot(int index) {
        return (first + index) & (events.length() - 1);
    }

    /** Adds a change. Its revision must not be below the latest one. */
    void add(Event event, long now) {
        if (event.before().isPresent() && event.before().get().resident() == 0) {
            leave(event.before());
        }
        append(event, now);
    }

    /** As {@link #add}, for a change of a journal, which keeps no value where it can read it later. */
    void append(Event event, long now) {
        if (size == events.length()) {
            grow();
        }
        events.set(slot(size), event, now);
        size++;
        memory += memory(event);
        stored += stored(event);
    }

    /** Replaces the version that an earlier change made by {@code made}, the same one without its value. */
    private void leave(Optional<Entry> made) {
        int index = after(made.orElseThrow().modRevision() - 1);
        if (index < size) {
            Event earlier = get(index);
            if (earlier.after().equals(made)) {
                events.set(
                        slot(index), new Event(earlier.revision(), earlier.key(), earlier.before(), made), time(index));
            }
        }
    }

    private void grow() {
        EventColumns more = new EventColumns(2 * size);
        for (int i = 0; i < size; i++) {
            more.set(i, get(i), time(i));
        }
        events = more;
        first = 0;
    }

    /** Drops the oldest change. */
    void drop() {
        Event gone = get(0);
        events.clear(first);
        first = slot(1);
        size--;
        memory -= memory(gone);
        stored -= stored(gone);
        start = gone.revision();
    }

    /** The index of the first change after {@code revision}; {@link #size} if there is none. */
    int after(long revision) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (events.revision(slot(middle)) <= revision) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The changes after {@code revision} of those keys that {@code wanted} accepts, ordered by revision. */
    List<Event> since(long revision, Predicate<String> wanted) {
        List<Event> since = new ArrayList<>();
        for (int i = after(revision); i < size; i++) {
            if (wanted.test(key(i))) {
                since.add(get(i));
            }
        }
        return since;
    }
}
