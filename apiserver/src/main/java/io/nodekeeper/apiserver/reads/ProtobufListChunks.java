package io.nodekeeper.apiserver.reads;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.apiserver.wire.ProtobufList;
import io.nodekeeper.store.Entry;
import java.io.ByteArrayOutputStream;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A list in protobuf, chunk by chunk. Protobuf has the length of the list before its items, so the items are created
 * twice: first to add up their lengths, then to send them. That costs twice the time, but no memory.
 */
final class ProtobufListChunks implements ResponseChunks {
    private final ProtobufList form;
    private final JsonObject metadata;
    private final List<Entry> entries;
    private final Function<Entry, Optional<JsonObject>> selected;
    private final long held;

    private Iterator<Entry> next;
    private boolean measured;
    private boolean ended;
    private long length;
    /** The part of {@link #length} that was not sent yet. */
    private long left;

    /**
     * @param form of the list
     * @param metadata the list's own
     * @param entries the versions to choose from, of one revision
     * @param selected the object to show for a version, if it is selected
     * @param held bytes of memory that {@code entries} may hold
     */
    ProtobufListChunks(
            ProtobufList form,
            JsonObject metadata,
            List<Entry> entries,
            Function<Entry, Optional<JsonObject>> selected,
            long held) {
        this.form = form;
        this.metadata = metadata;
        this.entries = entries;
        this.selected = selected;
        this.held = held;
        next = entries.iterator();
    }

    @Override
    public List<byte[]> next() {
        if (ended) {
            return List.of();
        }
        return measured ? items() : measure();
    }

    private List<byte[]> measure() {
        for (long examined = 0; examined < EXAMINED && next.hasNext(); ) {
            Entry entry = next.next();
            examined += entry.length();
            length += item(entry).length;
        }
        if (next.hasNext()) {
            return NOTHING_YET;
        }
        measured = true;
        left = length;
        next = entries.iterator();
        return List.of(form.head(metadata, length));
    }

    private List<byte[]> items() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(SIZE + SIZE / 4);
        for (long examined = 0; out.size() < SIZE && examined < EXAMINED && next.hasNext(); ) {
            Entry entry = next.next();
            examined += entry.length();
            out.writeBytes(item(entry));
        }
        left -= out.size();
        if (!next.hasNext()) {
            ended = true;
            if (left != 0) {
                throw new IllegalStateException("a list of " + length + " bytes has " + (length - left));
            }
            out.writeBytes(form.tail());
        }
        return out.size() == 0 ? NOTHING_YET : List.of(out.toByteArray());
    }

    private byte[] item(Entry entry) {
        return selected.apply(entry).map(form::item).orElseGet(() -> new byte[0]);
    }

    @Override
    public long held() {
        return held;
    }
}
