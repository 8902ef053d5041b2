package io.nodekeeper.api.schema;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The type of a JSON value: which fields an object has, of which types, and by which key its lists are merged. A value
 * that fits is one that Kubernetes' own decoder accepts, so code after the check can rely on the types. Immutable and
 * thread-safe.
 */
public sealed interface Schema {

    /** A plain value. */
    enum Scalar implements Schema {
        /** Any text. */
        STRING("string"),
        /** A whole number of 32 bits. */
        INT32("int32"),
        /** A whole number of 64 bits. */
        INT64("int64"),
        /** Any number. */
        DOUBLE("float64"),
        /** True or false. */
        BOOLEAN("bool"),
        /** An RFC 3339 time. */
        TIME("Time", "an RFC 3339 time, as 2006-01-02T15:04:05Z"),
        /** An RFC 3339 time with microseconds. */
        MICRO_TIME("MicroTime", "an RFC 3339 time with microseconds, as 2006-01-02T15:04:05.000000Z"),
        /** An amount, such as {@code 100m} or {@code 16Gi}; may also be a number. */
        QUANTITY("Quantity", "a quantity, as 100m, 4, 16Gi or 1e3"),
        /** Bytes in base64. */
        BYTES("[]byte", "bytes in base64 with padding"),
        /** A whole number of 32 bits or a string, such as a port or a percentage. */
        INT_OR_STRING("IntOrString", "a whole number of 32 bits or a string"),
        /** Anything at all. */
        ANY("any");

        private final String type;
        /** The expected form, for messages; empty if the type's name is clear. */
        private final String form;

        Scalar(String type) {
            this(type, "");
        }

        Scalar(String type, String form) {
            this.type = type;
            this.form = form;
        }
    }

    /** An array; {@code mergeKey} is the field that identifies an item, empty for a list that is replaced whole. */
    record ListOf(Schema item, String mergeKey, boolean set) implements Schema {
        /** Whether its items are identified by a key or by their value; else the list is one value. */
        public boolean isMerged() {
            return set || !mergeKey.isEmpty();
        }
    }

    /** An object whose field names are data, such as labels; an apply takes an atomic one as one value. */
    record MapOf(Schema value, boolean atomic) implements Schema {}

    /** How a strategic merge patch changes an object: the {@code patchStrategy} of Kubernetes' Go types. */
    enum PatchStrategy {
        /** Field by field; all others stay. */
        MERGE(""),
        /** The patch takes the object's place. */
        REPLACE("replace"),
        /** Field by field; a client that has the object whole says which others stay, as only one of them makes sense. */
        RETAIN_KEYS("retainKeys");

        private final String text;

        PatchStrategy(String text) {
            this.text = text;
        }

        /** The name in an OpenAPI document; empty for the usual one. */
        public String text() {
            return text;
        }
    }

    /** An object with known fields; an open one may have other fields too. Its fields are created at the first use. */
    final class Fields implements Schema {
        private final String type;
        private final boolean open;
        private final boolean atomic;
        private final PatchStrategy strategy;
        private final Supplier<Map<String, Schema>> source;
        private volatile @Nullable Map<String, Schema> made;

        private Fields(
                String type,
                boolean open,
                boolean atomic,
                PatchStrategy strategy,
                Supplier<Map<String, Schema>> source) {
            this.type = type;
            this.open = open;
            this.atomic = atomic;
            this.strategy = strategy;
            this.source = source;
        }

        /** This type as one that an apply takes as one value. */
        public Fields asAtomic() {
            return new Fields(type, open, true, strategy, source);
        }

        /** This type as one that a strategic merge changes so. */
        public Fields with(PatchStrategy other) {
            return other == strategy ? this : new Fields(type, open, atomic, other, source);
        }

        /** How a strategic merge changes such an object. */
        public PatchStrategy strategy() {
            return strategy;
        }

        /** The fields by name, unmodifiable. */
        public Map<String, Schema> fields() {
            Map<String, Schema> fields = made;
            if (fields == null) {
                // Two threads may both create them; the results are equal.
                fields = Collections.unmodifiableMap(source.get());
                made = fields;
            }
            return fields;
        }
    }

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
        return new MapOf(value, false);
    }

    /** A map that an apply takes as one value. */
    static MapOf atomicMap(Schema value) {
        return new MapOf(value, true);
    }

    /**
     * An object with exactly the fields of {@code source}.
     *
     * @param type the name of the Go struct, such as {@code PodSpec}
     * @param source called once or a few times, at the first use, because types may be recursive
     */
    static Fields struct(String type, Supplier<Map<String, Schema>> source) {
        return new Fields(type, false, false, PatchStrategy.MERGE, source);
    }

    /** An object with these fields, given as alternating names and schemas; other fields are unknown. */
    static Fields open(Object... namesAndSchemas) {
        Map<String, Schema> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndSchemas.length; i += 2) {
            fields.put((String) namesAndSchemas[i], (Schema) namesAndSchemas[i + 1]);
        }
        return new Fields("", true, false, PatchStrategy.MERGE, () -> fields);
    }

    /** Whether an apply takes an object or list of this type as one value, which has one owner. */
    default boolean isAtomic() {
        return switch (this) {
            case Fields object -> object.atomic;
            case MapOf map -> map.atomic;
            case ListOf list -> !list.isMerged();
            case Scalar ignored -> false;
        };
    }

    /** The schema of the field {@code name}; empty if the field is unknown. */
    default Optional<Schema> field(String name) {
        return switch (this) {
            case Fields object -> Optional.ofNullable(object.fields().get(name));
            case MapOf map -> Optional.of(map.value);
            default -> Optional.empty();
        };
    }

    /** The value that Go decodes from a null in a list or map of this type; empty if it stays null. */
    default Optional<JsonValue> zero() {
        return switch (this) {
            case Fields ignored -> Optional.of(JsonObject.EMPTY);
            case ListOf ignored -> Optional.empty();
            case MapOf ignored -> Optional.empty();
            case Scalar scalar ->
                switch (scalar) {
                    case STRING -> Optional.of(new JsonString(""));
                    case QUANTITY -> Optional.of(new JsonString("0"));
                    case INT32, INT64, DOUBLE, INT_OR_STRING -> Optional.of(JsonNumber.of(0));
                    case BOOLEAN -> Optional.of(JsonBool.FALSE);
                    case TIME, MICRO_TIME, BYTES, ANY -> Optional.empty();
                };
        };
    }

    /**
     * Why Kubernetes' decoder refuses {@code value}: one sentence with its text, or empty. A null fits every type, and
     * unknown fields are not a mismatch.
     */
    default Optional<String> mismatch(JsonValue value) {
        Mismatch found = find(value);
        return found == null ? Optional.empty() : Optional.of(found.text());
    }

    /** The first mismatch; its path is built only then, from the inside out. */
    private @Nullable Mismatch find(JsonValue value) {
        if (value == JsonNull.NULL) {
            return null;
        }
        return switch (this) {
            case Scalar scalar -> fits(scalar, value) ? null : new Mismatch(this, value);
            case ListOf list -> value instanceof JsonArray array ? find(list, array) : new Mismatch(this, value);
            case MapOf map -> value instanceof JsonObject object ? find(map, object) : new Mismatch(this, value);
            case Fields fields -> value instanceof JsonObject object ? find(fields, object) : new Mismatch(this, value);
        };
    }

    private static @Nullable Mismatch find(ListOf list, JsonArray array) {
        for (JsonValue item : array.items()) {
            Mismatch mismatch = list.item.find(item);
            if (mismatch != null) {
                return mismatch;
            }
        }
        return null;
    }

    private static @Nullable Mismatch find(MapOf map, JsonObject object) {
        for (int i = 0; i < object.size(); i++) {
            Mismatch mismatch = map.value.find(object.valueAt(i));
            if (mismatch != null) {
                return mismatch;
            }
        }
        return null;
    }

    private static @Nullable Mismatch find(Fields type, JsonObject object) {
        Map<String, Schema> known = type.fields();
        for (int i = 0; i < object.size(); i++) {
            Schema schema = known.get(object.nameAt(i));
            Mismatch mismatch = schema == null ? null : schema.find(object.valueAt(i));
            if (mismatch != null) {
                return mismatch.below(type.type, object.nameAt(i));
            }
        }
        return null;
    }

    private static boolean fits(Scalar scalar, JsonValue value) {
        return switch (scalar) {
            case ANY -> true;
            case STRING -> value instanceof JsonString;
            case BOOLEAN -> value instanceof JsonBool;
            case INT32 -> value instanceof JsonNumber number && isInt(number);
            case INT64 -> value instanceof JsonNumber number && number.isLong();
            case DOUBLE -> value instanceof JsonNumber number && Double.isFinite(Double.parseDouble(number.literal()));
            case TIME, MICRO_TIME ->
                value instanceof JsonString string
                        && KubeTime.parse(string.value()).isPresent();
            case QUANTITY -> Quantity.from(value).isPresent();
            case BYTES ->
                value instanceof JsonString string && bytes(string.value()).isPresent();
            case INT_OR_STRING -> value instanceof JsonString || (value instanceof JsonNumber number && isInt(number));
        };
    }

    private static boolean isInt(JsonNumber number) {
        return number.isLong() && number.longValue() == (int) number.longValue();
    }

    /** Decodes {@code text} from base64, which may have line ends; empty if it is malformed. */
    static Optional<byte[]> bytes(String text) {
        String joined = text.indexOf('\n') < 0 && text.indexOf('\r') < 0
                ? text
                : text.replace("\n", "").replace("\r", "");
        try {
            return joined.length() % 4 == 0 ? Optional.of(Base64.getDecoder().decode(joined)) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The name of the Go type. */
    private String typeName() {
        return switch (this) {
            case Scalar scalar -> scalar.type;
            case ListOf list -> "[]" + list.item.typeName();
            case MapOf map -> "map[string]" + map.value.typeName();
            case Fields fields -> "v1." + fields.type;
        };
    }

    /**
     * A value that does not fit.
     *
     * @param struct the innermost Go struct with the value; empty if not known yet
     * @param path the fields that lead there, without indices of lists and keys of maps, as in Go
     */
    record Mismatch(String struct, String path, Schema expected, JsonValue value) {
        /** The most characters of a value that are shown: enough to recognize it in a manifest. */
        private static final int SHOWN = 100;

        private Mismatch(Schema expected, JsonValue value) {
            this("", "", expected, value);
        }

        private Mismatch below(String type, String field) {
            return new Mismatch(
                    path.isEmpty() ? type : struct, path.isEmpty() ? field : field + "." + path, expected, value);
        }

        private String text() {
            String form = expected instanceof Scalar scalar ? scalar.form : "";
            boolean whole = expected == Scalar.INT32 || expected == Scalar.INT64;
            return "json: cannot unmarshal " + kind()
                    + (form.isEmpty() && !(whole && value instanceof JsonNumber) ? "" : shown()) + " into Go "
                    + (path.isEmpty() ? "value" : "struct field " + struct + "." + path) + " of type "
                    + expected.typeName() + (form.isEmpty() ? "" : ": expected " + form);
        }

        private String kind() {
            return value instanceof JsonBool ? "bool" : value.kind();
        }

        private String shown() {
            String text = Json.write(value);
            return " " + (text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text);
        }
    }

    /** The paths of fields in {@code value} that this shape does not know. */
    default List<String> unknownFields(JsonValue value) {
        // Nearly all objects have none, and that check needs no paths.
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
                    for (JsonValue item : object.fields().values()) {
                        if (!map.value.knows(item)) {
                            yield false;
                        }
                    }
                }
                yield true;
            }
            case Fields fields -> {
                if (value instanceof JsonObject object) {
                    for (var field : object.fields().entrySet()) {
                        Schema schema = fields.fields().get(field.getKey());
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
                        Schema schema = fields.fields().get(name);
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
