package io.nodekeeper.api;

import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
    record ListOf(Schema item, String mergeKey, boolean set) implements Schema {}

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
        return mismatch("", value);
    }

    private Optional<String> mismatch(String path, JsonValue value) {
        if (value == JsonNull.NULL) {
            return Optional.empty();
        }
        return switch (this) {
            case Scalar scalar -> scalarMismatch(scalar, path, value);
            case ListOf list -> {
                if (!(value instanceof JsonArray array)) {
                    yield wrong(path, "array", value);
                }
                for (int i = 0; i < array.items().size(); i++) {
                    JsonValue item = array.items().get(i);
                    String itemPath = path + "[" + i + "]";
                    Optional<String> mismatch = item == JsonNull.NULL && list.item instanceof Scalar
                            ? wrong(itemPath, "value", item)
                            : list.item.mismatch(itemPath, item);
                    if (mismatch.isPresent()) {
                        yield mismatch;
                    }
                }
                yield Optional.empty();
            }
            case MapOf map -> {
                if (!(value instanceof JsonObject object)) {
                    yield wrong(path, "object", value);
                }
                yield firstMismatch(path, object, name -> Optional.of(map.value));
            }
            case Fields fields -> {
                if (!(value instanceof JsonObject object)) {
                    yield wrong(path, "object", value);
                }
                yield firstMismatch(path, object, name -> Optional.ofNullable(fields.fields.get(name)));
            }
        };
    }

    private static Optional<String> firstMismatch(
            String path, JsonObject object, java.util.function.Function<String, Optional<Schema>> schemaOf) {
        for (var field : object.fields().entrySet()) {
            Optional<Schema> schema = schemaOf.apply(field.getKey());
            if (schema.isPresent()) {
                String fieldPath = path.isEmpty() ? field.getKey() : path + "." + field.getKey();
                Optional<String> mismatch = schema.get().mismatch(fieldPath, field.getValue());
                if (mismatch.isPresent()) {
                    return mismatch;
                }
            }
        }
        return Optional.empty();
    }

    private static Optional<String> scalarMismatch(Scalar scalar, String path, JsonValue value) {
        boolean fits = switch (scalar) {
            case ANY -> true;
            case STRING -> value instanceof JsonString;
            case BOOLEAN -> value instanceof JsonBool;
            case INTEGER -> value instanceof JsonNumber number && number.isLong();
            case TIME, MICRO_TIME ->
                value instanceof JsonString string
                        && KubeTime.parse(string.value()).isPresent();
            case QUANTITY -> Quantity.from(value).isPresent();
            case BYTES -> value instanceof JsonString string && isBase64(string.value());
            case INT_OR_STRING -> value instanceof JsonString || (value instanceof JsonNumber number && number.isLong());
        };
        return fits ? Optional.empty() : wrong(path, scalar.word, value);
    }

    private static boolean isBase64(String text) {
        try {
            Base64.getDecoder().decode(text);
            return text.length() % 4 == 0;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static Optional<String> wrong(String path, String expected, JsonValue value) {
        String shown = Json.write(value);
        return Optional.of((path.isEmpty() ? "the object" : path) + ": expected " + expected + ", got " + value.kind()
                + " " + (shown.length() > 100 ? shown.substring(0, 100) + "…" : shown));
    }

    /** The paths of fields in {@code value} that this shape does not know. */
    default List<String> unknownFields(JsonValue value) {
        List<String> unknown = new ArrayList<>();
        collectUnknown("", value, unknown);
        return unknown;
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
