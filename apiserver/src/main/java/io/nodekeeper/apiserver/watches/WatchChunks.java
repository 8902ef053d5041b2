package io.nodekeeper.apiserver.watches;

import io.nodekeeper.apiserver.reads.ListChunks;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.store.Changes;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The initial part of a watch: the existing objects, if requested, then the changes since. It reads the history in
 * parts, so that a watch that is far behind needs no more memory than another. At the end the watch goes live.
 */
final class WatchChunks implements ResponseChunks {
    /** The most changes of one part of the history. */
    private static final int CHANGES = 256;

    private final Store store;
    private final String target;
    private final Script script;
    private @Nullable Iterator<Entry> entries;
    private long held;
    private long version;
    private boolean ended;
    private boolean expired;

    /** Creates the lines of a watch. */
    interface Script {
        /** The line of an existing object, if it is selected. */
        List<byte[]> added(Entry entry);

        /** The lines after the existing objects at {@code revision}. */
        List<byte[]> initialEventsEnd(long revision);

        /** The line of a change, if it is selected. */
        List<byte[]> changed(Event event);

        /** All changes up to {@code revision} were sent. */
        void live(long revision);

        /** The last lines if the history has been compacted, or if a change cannot be read. */
        List<byte[]> expired(StoreException why);

        /** Everything was sent; the watch ends. */
        void end();
    }

    /** Changes after {@code version} of {@code target}. */
    WatchChunks(Store store, String target, long version, Script script) {
        this.store = store;
        this.target = target;
        this.version = version;
        this.script = script;
    }

    /** All of {@code now}, then the changes after it. */
    WatchChunks(Store store, String target, Listing now, Script script) {
        this(store, target, now.revision(), script);
        entries = now.entries().iterator();
        held = ListChunks.held(now.entries());
    }

    @Override
    public List<byte[]> next() {
        List<byte[]> lines = new ArrayList<>();
        long size = 0;
        long examined = 0;
        while (size < SIZE && examined < EXAMINED && !ended) {
            int before = lines.size();
            examined += step(lines, SIZE - size);
            for (byte[] line : lines.subList(before, lines.size())) {
                size += line.length;
            }
        }
        if (lines.isEmpty() && expired) {
            script.end();
        }
        return lines.isEmpty() && !ended ? NOTHING_YET : lines;
    }

    /** Adds the next lines to {@code lines}; returns how many bytes of objects were examined. */
    private long step(List<byte[]> lines, long room) {
        if (entries != null) {
            if (entries.hasNext()) {
                Entry entry = entries.next();
                lines.addAll(script.added(entry));
                return entry.length();
            }
            entries = null;
            lines.addAll(script.initialEventsEnd(version));
        }
        try {
            Changes changes = store.changes(target, version, CHANGES, room);
            long examined = 0;
            for (Event event : changes.events()) {
                lines.addAll(script.changed(event));
                examined += event.after().or(event::before).map(Entry::length).orElse(0);
            }
            version = changes.through();
            if (!changes.more()) {
                ended = true;
                script.live(version);
            }
            return examined;
        } catch (StoreException e) {
            // The history no longer has them, or a version cannot be read: its reader lists again.
            ended = true;
            expired = true;
            lines.addAll(script.expired(e));
            return 0;
        }
    }

    @Override
    public long held() {
        return held;
    }
}
