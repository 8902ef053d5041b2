package io.nodekeeper.api;

import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The shape of a kind: which fields it has, of which types, and by which key its lists are merged. It checks what comes in,
 * so that all code behind it may trust the types, and leads the strategic merge. Immutable.
 */
public sealed interface Schema {

    /** A plain value. */
    enum Scalar implements Schema {
        /** Any text. */
        STRING("string"),
        /** A whole number of 64 bits. */
        INTEGER("int64"),
        /** True or false. */
        BOOLEAN("bool"),
        /** An RFC 3339 time. */
        TIME("time"),
        /** An RFC 3339 time with microseconds. */
        MICRO_TIME("microtime"),
        /** An amount, as {@code 100m} or {@code 16Gi}; may come as a number. */
        QUANTITY("quantity"),
        /** Bytes in base64. */
        BYTES("base64"),
        /** A whole number or a text, as a port or a percentage. */
        INT_OR_STRING("int or string"),
        /** Anything at all. */
        ANY("any");

        private final String word;

        Scalar(String word) {
            this.word = word;
        }
    }

    /** An array; {@code mergeKey} is the field that identifies an item, empty for a list that is replaced whole. */
    record ListOf(Schema item, String mergeKey, boolean set) implements Schema {
        /** Whether its items are told apart, by a key or by their value; else it is one value. */
        public boolean isMerged() {
            return set || !mergeKey.isEmpty();
        }
    }

    /** An object whose field names are data, as labels are. */
    record MapOf(Schema value) implements Schema {}

    /** An object with known fields; an {@code open} one may have others too. */
    record Fields(Map<String, Schema> fields, boolean open) implements Schema {}

    /** A list that a patch replaces whole. */
    static ListOf list(Schema item) {
        return new ListOf(item, "", false);
    }

    /** A list that a strategic merge merges by {@code mergeKey}. */
    static ListOf listBy(String mergeKey, Schema item) {
        return new ListOf(item, mergeKey, false);
    }

    /** A list of plain values that a strategic merge adds to. */
    static ListOf set(Schema item) {
        return new ListOf(item, "", true);
    }

    /** A map. */
    static MapOf map(Schema value) {
        return new MapOf(value);
    }

    /** An object with exactly these fields: names and schemas in turn. */
    static Fields object(Object... namesAndSchemas) {
        return new Fields(pairs(namesAndSchemas), false);
    }

    /** An object with these fields, whose others are nobody's business here. */
    static Fields open(Object... namesAndSchemas) {
        return new Fields(pairs(namesAndSchemas), true);
    }

    private static Map<String, Schema> pairs(Object... namesAndSchemas) {
        Map<String, Schema> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndSchemas.length; i += 2) {
            fields.put((String) namesAndSchemas[i], (Schema) namesAndSchemas[i + 1]);
        }
        return Collections.unmodifiableMap(fields);
    }

    /** The schema of the field {@code name}; empty if nothing is known of it. */
    default Optional<Schema> field(String name) {
        return switch (this) {
            case Fields object -> Optional.ofNullable(object.fields.get(name));
            case MapOf map -> Optional.of(map.value);
            default -> Optional.empty();
        };
    }

    /** What is wrong with {@code value}: one sentence with the path, or nothing. Unknown fields are not wrong. */
    default Optional<String> mismatch(JsonValue value) {
        Mismatch found = find(value);
        return found == null ? Optional.empty() : Optional.of(found.text());
    }

    /** The first mismatch; its path is put together only if there is one, from the inside out. */
    private @Nullable Mismatch find(JsonValue value) {
        if (value == JsonNull.NULL) {
            return null;
        }
        return switch (this) {
            case Scalar scalar -> fits(scalar, value) ? null : new Mismatch("", scalar.word, value);
            case ListOf list -> value instanceof JsonArray array ? find(list, array) : new Mismatch("", "array", value);
            case MapOf map -> find(Map.of(), map.value, value);
            case Fields fields -> find(fields.fields, Scalar.ANY, value);
        };
    }

    private static @Nullable Mismatch find(Map<String, Schema> fields, Schema others, JsonValue value) {
        if (!(value instanceof JsonObject object)) {
            return new Mismatch("", "object", value);
        }
        for (var field : object.raw().entrySet()) {
            Mismatch mismatch = fields.getOrDefault(field.getKey(), others).find(field.getValue());
            if (mismatch != null) {
                return mismatch.below(field.getKey());
            }
        }
        return null;
    }

    private static @Nullable Mismatch find(ListOf list, JsonArray array) {
        for (int i = 0; i < array.items().size(); i++) {
            JsonValue item = array.items().get(i);
            Mismatch mismatch = item == JsonNull.NULL && list.item instanceof Scalar
                    ? new Mismatch("", "value", item)
                    : list.item.find(item);
            if (mismatch != null) {
                return mismatch.below("[" + i + "]");
            }
        }
        return null;
    }

    private static boolean fits(Scalar scalar, JsonValue value) {
        return switch (scalar) {
            case ANY -> true;
            case STRING -> value instanceof JsonString;
            case BOOLEAN -> value instanceof JsonBool;
            case INTEGER -> value instanceof JsonNumber number && number.isLong();
            case TIME, MICRO_TIME ->
                value instanceof JsonString string
                        && KubeTime.parse(string.value()).isPresent();
            case QUANTITY -> Quantity.from(value).isPresent();
            case BYTES -> value instanceof JsonString string && isBase64(string.value());
            case INT_OR_STRING ->
                value instanceof JsonString || (value instanceof JsonNumber number && number.isLong());
        };
    }

    /** A value that does not fit: where, what would, and what it is. */
    record Mismatch(String path, String expected, JsonValue value) {
        private Mismatch below(String step) {
            String joint = path.isEmpty() || path.startsWith("[") ? "" : ".";
            return new Mismatch(step + joint + path, expected, value);
        }

        private String text() {
            String shown = Json.write(value);
            return (path.isEmpty() ? "the object" : path) + ": expected " + expected + ", got " + value.kind() + " "
                    + (shown.length() > 100 ? shown.substring(0, 100) + "…" : shown);
        }
    }

    private static boolean isBase64(String text) {
        try {
            Base64.getDecoder().decode(text);
            return text.length() % 4 == 0;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The paths of fields in {@code value} that this shape does not know. */
    default List<String> unknownFields(JsonValue value) {
        // Nearly all objects have none, and telling so needs no paths.
        if (knows(value)) {
            return List.of();
        }
        List<String> unknown = new ArrayList<>();
        collectUnknown("", value, unknown);
        return unknown;
    }

    private boolean knows(JsonValue value) {
        return switch (this) {
            case Scalar ignored -> true;
            case ListOf list -> {
                if (value instanceof JsonArray array && !(list.item instanceof Scalar)) {
                    for (JsonValue item : array.items()) {
                        if (!list.item.knows(item)) {
                            yield false;
                        }
                    }
                }
                yield true;
            }
            case MapOf map -> {
                if (value instanceof JsonObject object && !(map.value instanceof Scalar)) {
                    for (JsonValue item : object.raw().values()) {
                        if (!map.value.knows(item)) {
                            yield false;
                        }
                    }
                }
                yield true;
            }
            case Fields fields -> {
                if (value instanceof JsonObject object) {
                    for (var field : object.raw().entrySet()) {
                        Schema schema = fields.fields.get(field.getKey());
                        if (schema == null ? !fields.open : !schema.knows(field.getValue())) {
                            yield false;
                        }
                    }
                }
                yield true;
            }
        };
    }

    private void collectUnknown(String path, JsonValue value, List<String> unknown) {
        switch (this) {
            case Scalar ignored -> {}
            case ListOf list -> {
                if (value instanceof JsonArray array) {
                    for (int i = 0; i < array.items().size(); i++) {
                        list.item.collectUnknown(
                                path + "[" + i + "]", array.items().get(i), unknown);
                    }
                }
            }
            case MapOf map -> {
                if (value instanceof JsonObject object) {
                    object.fields().forEach((name, item) -> map.value.collectUnknown(path + "." + name, item, unknown));
                }
            }
            case Fields fields -> {
                if (value instanceof JsonObject object) {
                    object.fields().forEach((name, item) -> {
                        String itemPath = path.isEmpty() ? name : path + "." + name;
                        Schema schema = fields.fields.get(name);
                        if (schema != null) {
                            schema.collectUnknown(itemPath, item, unknown);
                        } else if (!fields.open) {
                            unknown.add(itemPath);
                        }
                    });
                }
            }
        }
    }
}
