package io.nodekeeper.apiserver.watches;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.apiserver.wire.ProtobufWriter;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A serialized event, with its objects if a selector or a form of answer needs them. All watches share it and its forms. Not
 * thread-safe.
 */
final class RenderedEvent {
    private static final byte[] MODIFIED = head("MODIFIED");

    /** A line of an event besides its whole object. */
    record View(ResourceType resource, Media media, String type, boolean columns) {}

    private final long revision;
    private final String key;
    private final byte[] line;
    private final Optional<JsonObject> before;
    private final Optional<JsonObject> after;
    /** Lines of other forms and types. */
    private final Map<View, byte[]> views = new HashMap<>();
    /** The protobuf frames of all lines. */
    private final Map<byte[], byte[]> frames = new IdentityHashMap<>();

    /** {@code decode} says whether its objects are needed. */
    RenderedEvent(Event event, Codec codec, boolean decode) {
        revision = event.revision();
        key = event.key();
        String type = event.after().isEmpty() ? "DELETED" : event.before().isEmpty() ? "ADDED" : "MODIFIED";
        // Once: what stays on disk would be read again for each use.
        Optional<Entry> now = event.after().map(Entry::loaded);
        Optional<Entry> earlier = decode || now.isEmpty() ? event.before().map(Entry::loaded) : Optional.empty();
        line = line(type, codec.show(now.or(() -> earlier).orElseThrow(), revision));
        before = decode ? earlier.map(entry -> codec.decode(entry, revision)) : Optional.empty();
        after = decode ? now.map(codec::decode) : Optional.empty();
    }

    /** Whether this is {@code event}, with its objects if {@code decode}. */
    boolean isOf(Event event, boolean decode) {
        return revision == event.revision()
                && key.equals(event.key())
                && (!decode || before.isPresent() || after.isPresent());
    }

    long revision() {
        return revision;
    }

    /** The line of the whole object. */
    byte[] line() {
        return line;
    }

    /** The object before the change, if it is needed and existed. */
    Optional<JsonObject> before() {
        return before;
    }

    /** The object after the change, if it is needed and exists. */
    Optional<JsonObject> after() {
        return after;
    }

    /** The line of another form, made once. */
    byte[] shared(View view, Supplier<byte[]> line) {
        return views.computeIfAbsent(view, missing -> line.get());
    }

    /** {@code line}, which is of this event, as {@code media} writes it. */
    byte[] encoded(byte[] line, Media media) {
        return media.protobuf() ? frames.computeIfAbsent(line, RenderedEvent::frame) : line;
    }

    /** A line as a frame of protobuf. */
    static byte[] frame(byte[] line) {
        JsonObject event = Json.parseObject(line);
        return ProtobufWriter.frame(event)
                .orElseThrow(() -> new IllegalStateException("no message of Kubernetes for kind "
                        + event.object("object").text("kind")));
    }

    /** The line of an event of {@code type} about the serialized {@code object}. */
    static byte[] line(String type, byte[] object) {
        byte[] head = type.equals("MODIFIED") ? MODIFIED : head(type);
        byte[] line = new byte[head.length + object.length + 2];
        System.arraycopy(head, 0, line, 0, head.length);
        System.arraycopy(object, 0, line, head.length, object.length);
        line[line.length - 2] = '}';
        line[line.length - 1] = '\n';
        return line;
    }

    private static byte[] head(String type) {
        return ("{\"type\":\"" + type + "\",\"object\":").getBytes(StandardCharsets.US_ASCII);
    }
}
