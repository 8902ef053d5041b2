package io.nodekeeper.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The latest changes of one resource: what watches resume from, and what takes a list back to an earlier revision. What a
 * change costs is the version before it, which nothing else keeps. Guarded by its owner.
 */
final class History {
    /** A change in the window costs this besides the version before: the event, its entries, its place here. */
    static final int OVERHEAD = 160;

    /** A ring. Bound: {@link Window.Limits}, which the owner keeps to. */
    private @Nullable Event[] events = new Event[16];

    private long[] times = new long[16];
    private int first;
    private int size;

    /** The state after this revision and all changes since are known; those up to it are not. */
    private long start;

    private long memory;
    private long stored;

    History(long start) {
        this.start = start;
    }

    /** Bytes that keeping {@code event} costs in memory. */
    static long memory(Event event) {
        return OVERHEAD + event.before().map(Entry::resident).orElse(0);
    }

    /** Bytes that keeping {@code event} costs where values are stored. */
    static long stored(Event event) {
        return OVERHEAD + event.before().map(Entry::length).orElse(0);
    }

    /** The revision from which every change is kept. */
    long start() {
        return start;
    }

    /** How many changes there are. */
    int size() {
        return size;
    }

    /** Bytes of memory that the changes cost. */
    long memory() {
        return memory;
    }

    /** Bytes that the changes cost where values are stored. */
    long stored() {
        return stored;
    }

    /** The change at a place, 0 being the oldest. */
    Event get(int index) {
        return Objects.requireNonNull(events[(first + index) & (events.length - 1)]);
    }

    /** When the change at a place was added, in nanoseconds of the owner's clock. */
    long time(int index) {
        return times[(first + index) & (events.length - 1)];
    }

    /** Adds a change, whose revision is not below the latest. */
    void add(Event event, long now) {
        if (size == events.length) {
            grow();
        }
        int end = (first + size) & (events.length - 1);
        events[end] = event;
        times[end] = now;
        size++;
        memory += memory(event);
        stored += stored(event);
    }

    private void grow() {
        @Nullable Event[] moreEvents = new Event[2 * size];
        long[] moreTimes = new long[2 * size];
        for (int i = 0; i < size; i++) {
            moreEvents[i] = get(i);
            moreTimes[i] = time(i);
        }
        events = moreEvents;
        times = moreTimes;
        first = 0;
    }

    /** Drops the oldest change. */
    void drop() {
        Event gone = get(0);
        events[first] = null;
        first = (first + 1) & (events.length - 1);
        size--;
        memory -= memory(gone);
        stored -= stored(gone);
        start = gone.revision();
    }

    /** The place of the first change after {@code revision}; {@link #size} if there is none. */
    int after(long revision) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (get(middle).revision() <= revision) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The changes after {@code revision}, in order. */
    List<Event> since(long revision) {
        List<Event> since = new ArrayList<>();
        for (int i = after(revision); i < size; i++) {
            since.add(get(i));
        }
        return since;
    }
}
