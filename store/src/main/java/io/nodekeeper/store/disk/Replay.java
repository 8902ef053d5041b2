package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.StoreKeys;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Builds the objects and the history of a journal from its changes, in the order of their revisions. Not thread-safe. */
final class Replay {
    /** The latest version of an object so far. */
    private static final class Latest {
        /** The revision up to which the history of the object's resource is compacted. */
        private final long compacted;
        /** The version as the history refers to it. All versions of an object share one key string. */
        private Optional<Entry> version = Optional.empty();
        /** Its value, if that stays in memory although the history refers to it on disk. */
        private Optional<byte[]> value = Optional.empty();

        Latest(long compacted) {
            this.compacted = compacted;
        }

        Entry entry() {
            Entry entry = version.orElseThrow();
            return value.map(bytes -> new Entry(entry.key(), bytes, entry.createRevision(), entry.modRevision()))
                    .orElse(entry);
        }
    }

    private final ValueTransformer transformer;
    private final RocksValueReader later;
    private final Map<String, Long> windows;
    private final long floor;
    private final RowChecksum sum;

    /** By the oldest change of each that is kept: objects that were created together, whose keys are alike, are mostly together. */
    private final Map<String, Latest> live = new LinkedHashMap<>();

    private final List<Event> history = new ArrayList<>();
    private final List<byte[]> unwanted = new ArrayList<>();
    private Optional<StoreException> gap = Optional.empty();

    /**
     * A replay of nothing yet.
     *
     * @param later reads the values that stay on disk, and those of the history, when they are needed
     * @param windows for each resource the revision up to which its history is compacted
     * @param floor the revision up to which all history is compacted
     * @param sum the checksum to which the rows are added
     */
    Replay(
            ValueTransformer transformer,
            RocksValueReader later,
            Map<String, Long> windows,
            long floor,
            RowChecksum sum) {
        this.transformer = transformer;
        this.later = later;
        this.windows = windows;
        this.floor = floor;
        this.sum = sum;
    }

    /**
     * Takes the next change.
     *
     * @throws StoreException if the value cannot be decrypted
     */
    void take(ChangeRow change) {
        sum.add(change.row());
        long revision = RowFormat.revision(change.row());
        String read = RowFormat.key(change.row());
        Latest latest = live.computeIfAbsent(read, this::unseen);
        Optional<Entry> before = latest.version;
        String key = before.map(Entry::key).orElse(read);
        if (change.put()) {
            put(latest, key, revision, change);
        } else {
            live.remove(key);
        }
        Event event = new Event(revision, key, before, change.put() ? latest.version : Optional.empty());
        if (revision > latest.compacted) {
            gap = gap.or(() -> missingBefore(event, change.before()));
            history.add(event);
        } else {
            unwanted.addAll(RowFormat.leftBehind(event));
        }
    }

    private Latest unseen(String key) {
        return new Latest(Math.max(floor, windows.getOrDefault(StoreKeys.resource(key), 0L)));
    }

    private void put(Latest latest, String key, long revision, ChangeRow change) {
        Optional<byte[]> value = change.stored().map(stored -> transformer.fromStorage(key, key, stored));
        int length = value.map(bytes -> bytes.length).orElse(change.length());
        latest.version = Optional.of(Entry.stored(key, length, later, change.created(), revision));
        latest.value = later.onDisk(key, length) ? Optional.empty() : value;
    }

    /** A failure if the version that a change in the history replaced is missing. */
    private static Optional<StoreException> missingBefore(Event event, long revision) {
        return event.before().map(Entry::modRevision).orElse(0L) == revision
                ? Optional.empty()
                : Optional.of(new StoreException.Damaged(
                        "the version of " + event.key() + " at revision " + revision + " is missing, which revision "
                                + event.revision() + " changed",
                        null));
    }

    /** The objects, ordered by the oldest change of each that is kept: those with similar keys are mostly together. */
    List<Entry> objects() {
        return live.values().stream().map(Latest::entry).toList();
    }

    /** The changes that belong to the history, ordered by revision. */
    List<Event> history() {
        return history;
    }

    /** The row keys that exist but are not needed. */
    List<byte[]> unwanted() {
        return unwanted;
    }

    /** What is missing in the history, if anything is. */
    Optional<StoreException> gap() {
        return gap;
    }
}
