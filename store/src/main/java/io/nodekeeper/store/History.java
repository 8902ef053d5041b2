package io.nodekeeper.store;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The latest changes of one resource: what watches resume from, and what takes a list back to an earlier revision. Bounded
 * by count and age. Guarded by its owner.
 */
final class History {
    private record Timed(Event event, long at) {}

    private final ArrayDeque<Timed> events = new ArrayDeque<>();
    private final Window.Limits limits;
    /** The state after this revision and all changes since are known; those up to it are not. */
    private long start;

    History(Window.Limits limits, long start) {
        this.limits = limits;
        this.start = start;
    }

    /** The revision from which every change is kept. */
    long start() {
        return start;
    }

    /** Adds a change; the same as those before or later. */
    void add(Event event, long now) {
        events.addLast(new Timed(event, now));
    }

    /** The oldest changes, which go beyond the limits once {@code coming} more are added; all of them are still kept. */
    List<Event> stale(int coming, long now) {
        List<Event> stale = new ArrayList<>();
        int left = events.size();
        for (Timed timed : events) {
            if (left + coming <= limits.events() && now - timed.at <= limits.nanos()) {
                break;
            }
            stale.add(timed.event);
            left--;
        }
        return stale;
    }

    /** Drops the oldest change, which is {@code gone}. */
    void drop(Event gone) {
        events.removeFirst();
        start = gone.revision();
    }

    /** The changes after {@code revision}, in order. */
    List<Event> since(long revision) {
        ArrayList<Event> since = new ArrayList<>();
        for (var timed = events.descendingIterator(); timed.hasNext(); ) {
            Event event = timed.next().event;
            if (event.revision() <= revision) {
                break;
            }
            since.add(event);
        }
        return since.reversed();
    }
}
