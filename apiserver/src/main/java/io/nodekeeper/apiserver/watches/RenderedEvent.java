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
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An event in all forms that watches want. Each form is made once, when a watch first wants it, and all forms out of objects that are
 * parsed once: an object may have a megabyte. Not thread-safe.
 */
final class RenderedEvent {
    private static final byte[] MODIFIED = head("MODIFIED");

    /** The type of the event that a watch gets if the object leaves its selection or is deleted. */
    static final String DELETED = "DELETED";

    /** A form of an event. One of type {@link #DELETED} shows the object as it was before the change, others as it is after it. */
    record View(ResourceType resource, Media media, String type, boolean columns) {}

    private final Event event;
    private final Optional<Version> before;
    private final Optional<Version> after;
    private final Map<View, byte[]> views = new HashMap<>();

    RenderedEvent(Event event, Codec codec) {
        this.event = event;
        before = event.before().map(entry -> new Version(entry, codec, event.revision()));
        after = event.after().map(entry -> new Version(entry, codec, event.revision()));
    }

    /** One version of the object, with the revision of the event. It is read and parsed when that is first needed. */
    private static final class Version {
        private final Entry stored;
        private final Codec codec;
        private final long revision;
        private @Nullable Entry loaded;
        private @Nullable JsonObject object;

        private Version(Entry stored, Codec codec, long revision) {
            this.stored = stored;
            this.codec = codec;
            this.revision = revision;
        }

        /** The version with its value. What stays on disk would be read again for each use. */
        private Entry loaded() {
            Entry known = loaded;
            if (known == null) {
                known = stored.loaded();
                loaded = known;
            }
            return known;
        }

        private byte[] text() {
            return codec.show(loaded(), revision);
        }

        private JsonObject object() {
            JsonObject known = object;
            if (known == null) {
                known = codec.decode(loaded(), revision);
                object = known;
            }
            return known;
        }
    }

    /** Whether this is {@code other}. */
    boolean isOf(Event other) {
        return event.revision() == other.revision() && event.key().equals(other.key());
    }

    /** The object before the change, if it existed. */
    Optional<JsonObject> before() {
        return before.map(Version::object);
    }

    /** The object after the change, if it exists. */
    Optional<JsonObject> after() {
        return after.map(Version::object);
    }

    /** The event with the whole object. */
    byte[] whole(View view) {
        return views.computeIfAbsent(view, missing -> {
            Version version = version(missing);
            return missing.media.protobuf()
                    ? frame(missing.type, named(version.object(), missing.resource))
                    : line(missing.type, version.text());
        });
    }

    /** The event with {@code part} of the object. */
    byte[] partial(View view, UnaryOperator<JsonObject> part) {
        return views.computeIfAbsent(
                view,
                missing -> written(missing.type, part.apply(version(missing).object()), missing.media));
    }

    private Version version(View view) {
        return (view.type.equals(DELETED) ? before : after).orElseThrow();
    }

    /** The object as its line shows it: another server may have stored it as of another version of its API. */
    private static JsonObject named(JsonObject object, ResourceType resource) {
        return object.with("kind", resource.kind()).with("apiVersion", resource.apiVersion());
    }

    /** An event of {@code type} about {@code object}, as {@code media} writes it. */
    static byte[] written(String type, JsonObject object, Media media) {
        return media.protobuf() ? frame(type, object) : line(type, Json.writeBytes(object));
    }

    private static byte[] frame(String type, JsonObject object) {
        JsonObject event =
                JsonObject.builder().put("type", type).put("object", object).build();
        return ProtobufWriter.frame(event)
                .orElseThrow(
                        () -> new IllegalStateException("no message of Kubernetes for kind " + object.text("kind")));
    }

    private static byte[] line(String type, byte[] object) {
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
