package io.nodekeeper.apiserver.storage;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.store.Entry;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Converts objects between the store and the wire. A stored value is JSON that begins with kind, apiVersion and
 * metadata, without the resource version, which is the entry's revision. To show it, the version is inserted at a known
 * position, without parsing. Kinds with another stored form override the methods. Immutable.
 */
public class Codec {
    /**
     * The deepest nesting of a stored object: half of the 200 levels that readers accept, because lists and tables add
     * some levels.
     */
    private static final int MAX_DEPTH = 100;

    /**
     * From this many bytes on, objects and bodies are not parsed on the thread of a connection: it takes long enough to delay the thread's
     * other requests.
     */
    public static final int LARGE = 16 << 10;

    private static final byte[] ITEM_HEAD = "{\"metadata\":{".getBytes(StandardCharsets.UTF_8);

    private final byte[] head;
    private final ResourceType type;

    public Codec(ResourceType type) {
        this.type = type;
        head = ("{\"kind\":\"" + type.kind() + "\",\"apiVersion\":\"" + type.apiVersion() + "\",\"metadata\":{")
                .getBytes(StandardCharsets.UTF_8);
    }

    /** The bytes to store for {@code object}. */
    public byte[] encode(JsonObject object) {
        JsonObject.Builder ordered = JsonObject.builder()
                .put("kind", type.kind())
                .put("apiVersion", type.apiVersion())
                .put("metadata", object.object("metadata").without("resourceVersion"));
        object.fields().forEach((name, value) -> {
            if (!name.equals("kind") && !name.equals("apiVersion") && !name.equals("metadata")) {
                ordered.put(name, value);
            }
        });
        return Json.writeBytes(ordered.build());
    }

    /** The stored object with its resource version. */
    public JsonObject decode(Entry entry) {
        return decode(entry, entry.modRevision());
    }

    public JsonObject decode(Entry entry, long revision) {
        byte[] value = entry.value();
        if (isOwn(value)) {
            // Cheaper than changing the parsed object, which would copy it.
            return Json.parseObject(shown(value, revision));
        }
        return (Protobuf.begins(value) ? Protobuf.decode(value) : Json.parseObject(value))
                .update("metadata", metadata -> metadata.with("resourceVersion", Long.toString(revision)));
    }

    /** The stored bytes in this server's form: a kube-apiserver stores protobuf, or JSON in another order. */
    private byte[] own(Entry entry) {
        byte[] value = entry.value();
        return isOwn(value) ? value : encode(decode(entry));
    }

    /**
     * Whether the stored object may have a field of this name anywhere: true if a field or text of it has that name, or if it is
     * stored in another form. Much cheaper than {@link #decode}.
     */
    public boolean mayContain(Entry entry, String field) {
        byte[] value = entry.value();
        return !isOwn(value) || indexOf(value, ('"' + field + '"').getBytes(StandardCharsets.UTF_8)) >= 0;
    }

    private static int indexOf(byte[] value, byte[] wanted) {
        for (int i = 0; i <= value.length - wanted.length; i++) {
            if (value[i] == wanted[0]
                    && value[i + 1] == wanted[1]
                    && Arrays.equals(value, i, i + wanted.length, wanted, 0, wanted.length)) {
                return i;
            }
        }
        return -1;
    }

    private boolean isOwn(byte[] value) {
        return value.length > head.length
                && Arrays.equals(value, 0, head.length, head, 0, head.length)
                && value[head.length] == '"'
                && value[value.length - 1] == '}';
    }

    /** The bytes of the object on the wire. */
    public byte[] show(Entry entry, long revision) {
        return shown(own(entry), revision);
    }

    private byte[] shown(byte[] value, long revision) {
        byte[] version = version(revision);
        byte[] shown = new byte[value.length + version.length];
        System.arraycopy(value, 0, shown, 0, head.length);
        System.arraycopy(version, 0, shown, head.length, version.length);
        System.arraycopy(value, head.length, shown, head.length + version.length, value.length - head.length);
        return shown;
    }

    /** Writes the object as an item of a list, which has no kind and apiVersion. */
    public void showItem(Entry entry, ByteArrayOutputStream out) {
        byte[] value = own(entry);
        out.writeBytes(ITEM_HEAD);
        out.writeBytes(version(entry.modRevision()));
        out.write(value, head.length, value.length - head.length);
    }

    /**
     * The object in canonical form: no nulls, times in UTC with the right precision, canonical amounts.
     *
     * @param object an object whose types fit {@code schema}
     * @throws ApiException if it is nested too deeply
     */
    public static JsonObject normalize(JsonObject object, Schema schema) {
        return normalized(object, schema, MAX_DEPTH);
    }

    /** The same object if it has that form already, as objects from this server do. */
    private static JsonObject normalized(JsonObject object, Schema schema, int depth) {
        JsonObject.Builder result = object.toBuilder();
        boolean same = true;
        for (Map.Entry<String, JsonValue> field : object.fields().entrySet()) {
            String name = field.getKey();
            JsonValue value = field.getValue();
            if (value == JsonNull.NULL) {
                // A null field is absent; a null map entry becomes its type's zero value.
                Optional<JsonValue> zero =
                        schema instanceof Schema.MapOf map ? map.value().zero() : Optional.<JsonValue>empty();
                zero.ifPresentOrElse(empty -> result.put(name, empty), () -> result.remove(name));
                same = false;
            } else {
                JsonValue next = normalized(value, schema.field(name).orElse(Schema.Scalar.ANY), depth - 1);
                if (next != value) {
                    result.put(name, next);
                    same = false;
                }
            }
        }
        return same ? object : result.build();
    }

    private static JsonArray normalized(JsonArray array, Schema schema, int depth) {
        Schema item = schema instanceof Schema.ListOf list ? list.item() : schema;
        List<JsonValue> result = new ArrayList<>(array.items().size());
        boolean same = true;
        for (JsonValue element : array.items()) {
            if (element == JsonNull.NULL) {
                item.zero().ifPresent(result::add);
                same = false;
            } else {
                JsonValue next = normalized(element, item, depth - 1);
                same &= next == element;
                result.add(next);
            }
        }
        return same ? array : new JsonArray(result);
    }

    private static JsonValue normalized(JsonValue value, Schema schema, int depth) {
        if (depth < 0) {
            throw ApiException.badRequest("the object is nested deeper than " + MAX_DEPTH + " levels");
        }
        return switch (value) {
            case JsonObject object -> normalized(object, schema, depth);
            case JsonArray array -> normalized(array, schema, depth);
            case JsonString string -> {
                String text = string.value();
                if (schema == Schema.Scalar.TIME && !KubeTime.isFormatted(text)) {
                    yield new JsonString(KubeTime.format(KubeTime.parse(text).orElseThrow()));
                }
                if (schema == Schema.Scalar.MICRO_TIME && !KubeTime.isFormattedMicro(text)) {
                    yield new JsonString(
                            KubeTime.formatMicro(KubeTime.parse(text).orElseThrow()));
                }
                if (schema == Schema.Scalar.BYTES) {
                    yield canonical(string);
                }
                yield schema == Schema.Scalar.QUANTITY ? amount(string, text) : string;
            }
            case JsonNumber number -> schema == Schema.Scalar.QUANTITY ? amount(number, number.literal()) : number;
            default -> value;
        };
    }

    /** An amount in Kubernetes' canonical form, such as 1Gi for 1024Mi. */
    private static JsonValue amount(JsonValue given, String text) {
        String canonical = Quantity.from(given).map(Quantity::toString).orElse(text);
        return given instanceof JsonString && canonical.equals(text) ? given : new JsonString(canonical);
    }

    /** Base64 without line ends and stray bits, as Go writes it. */
    private static JsonString canonical(JsonString base64) {
        String text =
                Base64.getEncoder().encodeToString(Schema.bytes(base64.value()).orElseThrow());
        return text.equals(base64.value()) ? base64 : new JsonString(text);
    }

    private static byte[] version(long revision) {
        return ("\"resourceVersion\":\"" + revision + "\",").getBytes(StandardCharsets.US_ASCII);
    }
}
