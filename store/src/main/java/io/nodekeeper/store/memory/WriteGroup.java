package io.nodekeeper.store.memory;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes that become durable together. Each is compared with the state after the earlier ones and gets the next revision. Its
 * lists do not change.
 *
 * @param accepted the writes that change something, ordered by revision
 * @param events their changes, with values in memory
 * @param kept the same changes in the form that the store keeps
 * @param losses the writes with a conflict
 * @param refused the writes for which there is no space
 * @param batched how many of all these writes could wait for others
 */
record WriteGroup(
        List<Write> accepted,
        List<Event> events,
        List<Event> kept,
        List<Loss> losses,
        List<Write> refused,
        int batched) {
    /** Maximum changes in one group, which bounds the latency of the first one. Larger groups hardly raise the rate. */
    static final int MOST = 512;
    /** Maximum bytes of values in one group, replaced values included, which bounds the memory of a group being written. */
    private static final long MOST_BYTES = 4 << 20;

    private static final Logger log = LoggerFactory.getLogger(WriteGroup.class);

    /** A write with a conflict. It fails only after the write that it conflicts with is durable, because the failure reveals it. */
    record Loss(Write write, StoreException.Conflict conflict) {}

    /** An object after a write of the group: with its value in memory, and in the form that the store keeps. */
    private record Pending(Optional<Entry> full, Optional<Entry> kept) {}

    /**
     * Takes a group from {@code queue}, at least one write unless it is empty.
     *
     * @param revision the last revision before the group
     * @param current finds an object as it was before the group
     * @param stored makes the form that the store keeps
     * @param space counts the accepted changes, and refuses those that take too much
     */
    static WriteGroup take(
            Queue<Write> queue,
            long revision,
            Function<String, Optional<Entry>> current,
            UnaryOperator<Entry> stored,
            StoreSpace space) {
        List<Write> accepted = new ArrayList<>();
        List<Event> events = new ArrayList<>();
        List<Event> kept = new ArrayList<>();
        List<Loss> losses = new ArrayList<>();
        List<Write> refused = new ArrayList<>();
        Map<String, Pending> pending = new HashMap<>();
        long next = revision;
        long size = 0;
        int batched = 0;
        Write write;
        while (events.size() < MOST && size < MOST_BYTES && (write = queue.poll()) != null) {
            batched += write.batched() ? 1 : 0;
            String key = write.key();
            Pending earlier = pending.get(key);
            Optional<Entry> before = earlier == null ? current.apply(key) : earlier.full;
            if (before.map(Entry::modRevision).orElse(0L) != write.expected()) {
                losses.add(new Loss(write, new StoreException.Conflict(key, write.expected(), before)));
                continue;
            }
            long mine = next + 1;
            // All versions of an object share one string.
            String shared = before.map(Entry::key).orElse(key);
            Optional<Entry> after = write.value()
                    .map(value -> new Entry(
                            shared, value, before.map(Entry::createRevision).orElse(mine), mine));
            Event keeping = new Event(mine, shared, earlier == null ? before : earlier.kept, after.map(stored));
            if (space.refuses(keeping)) {
                refused.add(write);
                continue;
            }
            next = mine;
            space.add(keeping);
            size += after.map(Entry::length).orElse(0)
                    + before.map(Entry::length).orElse(0);
            pending.put(shared, new Pending(after, keeping.after()));
            events.add(new Event(mine, shared, before, after));
            kept.add(keeping);
            accepted.add(write);
        }
        return new WriteGroup(accepted, events, kept, losses, refused, batched);
    }

    /** The group with replaced versions in memory, so that watchers need no disk read. Reads the journal. */
    WriteGroup withReplacedValues() {
        List<Event> loaded = new ArrayList<>(events.size());
        List<StoreException> failures = new ArrayList<>();
        for (Event event : events) {
            try {
                loaded.add(withReplacedValue(event));
            } catch (StoreException e) {
                failures.add(e);
                loaded.add(event);
            }
        }
        if (!failures.isEmpty()) {
            // One for all: a database that is closed fails at each of them.
            log.error(
                    "cannot read {} of the versions that the changes up to revision {} replace; the first reason",
                    failures.size(),
                    events.getLast().revision(),
                    failures.getFirst());
        }
        return new WriteGroup(accepted, loaded, kept, losses, refused, batched);
    }

    private static Event withReplacedValue(Event event) {
        return event.before().isEmpty() || event.before().get().resident() > 0
                ? event
                : new Event(event.revision(), event.key(), event.before().map(Entry::loaded), event.after());
    }

    /** Tells the writers that the group is durable. */
    void acknowledge() {
        for (int i = 0; i < events.size(); i++) {
            accepted.get(i).done().complete(events.get(i));
        }
        acknowledgeLosses();
    }

    /** Tells the writers with a conflict. */
    void acknowledgeLosses() {
        losses.forEach(loss -> loss.write.done().completeExceptionally(loss.conflict));
    }

    /** Tells the writers, also those with a conflict, that the group failed. */
    void fail(StoreException why) {
        accepted.forEach(write -> write.done().completeExceptionally(why));
        losses.forEach(loss -> loss.write.done().completeExceptionally(why));
    }
}
