package io.nodekeeper.apiserver.reads;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.apiserver.wire.ProtobufList;
import io.nodekeeper.store.Entry;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * A list in the requested form, in chunks. It references the versions of one revision, so that it is consistent however
 * long it takes; it reads values on disk when they are needed.
 */
public final class ListChunks implements ResponseChunks {
    /** The bytes of an entry that only this list still references: the entry, its key, the reference. */
    private static final int ENTRY = 160;

    private final Resource resource;
    private final ListOptions options;
    private final Media media;
    private final Instant now;
    private final JsonObject metadata;
    private final List<Entry> all;
    private final Iterator<Entry> entries;
    private final long held;
    private String head;
    private boolean first = true;
    private boolean ended;

    /**
     * @param entries the versions to select from, of one revision
     * @param options the selection
     * @param metadata the list's metadata
     * @param now the current time, for ages in tables
     */
    ListChunks(
            Resource resource,
            List<Entry> entries,
            ListOptions options,
            Media media,
            JsonObject metadata,
            Instant now) {
        this.resource = resource;
        this.options = options;
        this.media = media;
        this.now = now;
        this.metadata = metadata;
        all = entries;
        this.entries = entries.iterator();
        held = held(entries);
        head = switch (media.form()) {
            case OBJECT ->
                "{\"kind\":\"" + resource.type().kind() + "List\",\"apiVersion\":\""
                        + resource.type().apiVersion() + "\",\"metadata\":" + metadata + ",\"items\":[";
            case TABLE ->
                "{\"kind\":\"Table\",\"apiVersion\":\"" + media.apiVersion() + "\",\"metadata\":" + metadata
                        + ",\"columnDefinitions\":" + resource.table() + ",\"rows\":[";
            case METADATA ->
                "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"" + media.apiVersion() + "\",\"metadata\":"
                        + metadata + ",\"items\":[";
        };
    }

    /** The bytes of versions that may be replaced while a reader uses them. */
    public static long held(List<Entry> entries) {
        return entries.stream().mapToLong(entry -> ENTRY + entry.resident()).sum();
    }

    @Override
    public List<byte[]> next() {
        if (ended) {
            return List.of();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(SIZE + SIZE / 4);
        out.writeBytes(head.getBytes(StandardCharsets.UTF_8));
        head = "";
        long examined = 0;
        while (out.size() < SIZE && examined < EXAMINED && entries.hasNext()) {
            Entry entry = entries.next();
            examined += entry.length();
            // Once: what stays on disk would be read again for each use.
            write(entry.loaded(), out);
        }
        if (!entries.hasNext()) {
            ended = true;
            out.writeBytes("]}".getBytes(StandardCharsets.UTF_8));
        }
        return out.size() == 0 ? NOTHING_YET : List.of(out.toByteArray());
    }

    /** The same list in protobuf, in Kubernetes' message for lists of this kind; empty for tables, which have none. */
    @Override
    public Optional<ResponseChunks> inProtobuf() {
        Optional<ProtobufList> form = switch (media.form()) {
            case OBJECT ->
                ProtobufList.of(resource.type().apiVersion(), resource.type().kind() + "List");
            case METADATA -> ProtobufList.of(media.apiVersion(), "PartialObjectMetadataList");
            case TABLE -> Optional.empty();
        };
        return form.map(list -> new ProtobufListChunks(list, metadata, all, this::selected, held));
    }

    /** The object to show, if it is selected. */
    private Optional<JsonObject> selected(Entry entry) {
        JsonObject object = resource.codec().decode(entry);
        if (!options.matches(resource, object)) {
            return Optional.empty();
        }
        return Optional.of(media.form() == Media.Form.METADATA ? media.metadataOf(object) : object);
    }

    private void write(Entry entry, ByteArrayOutputStream out) {
        Codec codec = resource.codec();
        if (media.whole() && options.isAll()) {
            // Copies the stored bytes; nothing has to be decoded.
            separate(out);
            codec.showItem(entry, out);
            return;
        }
        Optional<JsonObject> selected = selected(entry);
        if (selected.isEmpty()) {
            return;
        }
        separate(out);
        switch (media.form()) {
            case OBJECT -> codec.showItem(entry, out);
            case TABLE -> out.writeBytes(Json.writeBytes(resource.table().row(selected.get(), media, now)));
            case METADATA -> out.writeBytes(Json.writeBytes(selected.get()));
        }
    }

    private void separate(ByteArrayOutputStream out) {
        if (!first) {
            out.write(',');
        }
        first = false;
    }

    @Override
    public long held() {
        return held;
    }
}
