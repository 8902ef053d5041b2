package io.nodekeeper.api.json;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A JSON object whose fields keep the order in which they were written. The reading methods follow the API's convention
 * that an absent field, a null and the empty value mean the same: they answer with the empty value and never fail; what
 * must be of the right type is checked once, where it comes in, by a schema.
 */
public final class JsonObject implements JsonValue {
    /** The object without fields. */
    public static final JsonObject EMPTY = new JsonObject(new FieldMap());

    private final FieldMap fields;

    /** Takes ownership of {@code fields}: the caller must not change them any more. */
    private JsonObject(FieldMap fields) {
        this.fields = fields;
    }

    /** An object with a copy of {@code fields}, in their order. */
    public static JsonObject copyOf(Map<String, ? extends JsonValue> fields) {
        FieldMap copy = new FieldMap();
        fields.forEach(copy::set);
        return new JsonObject(copy);
    }

    /** An object whose fields are the given strings, in their order. */
    public static JsonObject ofStrings(Map<String, String> texts) {
        FieldMap fields = new FieldMap();
        texts.forEach((name, text) -> fields.set(name, new JsonString(text)));
        return new JsonObject(fields);
    }

    /** Starts a new object. */
    public static Builder builder() {
        return new Builder(new FieldMap(), false);
    }

    /** Starts a changed copy of this object. */
    public Builder toBuilder() {
        return new Builder(fields, true);
    }

    /** The fields by number, for this package. */
    FieldMap raw() {
        return fields;
    }

    /** The number of fields. */
    public int size() {
        return fields.size();
    }

    /** The name of field number {@code index}, counted from 0; reading fields this way allocates nothing. */
    public String nameAt(int index) {
        return fields.name(index);
    }

    /** The value of field number {@code index}, counted from 0. */
    public JsonValue valueAt(int index) {
        return fields.value(index);
    }

    /** The fields, unmodifiable, in their order. */
    public Map<String, JsonValue> fields() {
        return fields;
    }

    /** The field {@code name}, which may be a null. */
    public Optional<JsonValue> get(String name) {
        return Optional.ofNullable(fields.get(name));
    }

    /** Whether the field {@code name} has a value other than null. */
    public boolean has(String name) {
        JsonValue value = fields.get(name);
        return value != null && value != JsonNull.NULL;
    }

    /** Whether there are no fields. */
    public boolean isEmpty() {
        return fields.isEmpty();
    }

    /** The string {@code name}; empty if it is not a string. */
    public String text(String name) {
        return fields.get(name) instanceof JsonString string ? string.value() : "";
    }

    /** The whole number {@code name}; empty if it is not a whole number. */
    public Optional<Long> number(String name) {
        return fields.get(name) instanceof JsonNumber number && number.isLong()
                ? Optional.of(number.longValue())
                : Optional.empty();
    }

    /** The boolean {@code name}; false if it is not a boolean. */
    public boolean bool(String name) {
        return fields.get(name) instanceof JsonBool bool && bool.value();
    }

    /** The object {@code name}; empty if it is not an object. */
    public JsonObject object(String name) {
        return fields.get(name) instanceof JsonObject object ? object : EMPTY;
    }

    /** The array {@code name}; empty if it is not an array. */
    public JsonArray array(String name) {
        return fields.get(name) instanceof JsonArray array ? array : JsonArray.EMPTY;
    }

    /** The fields that are strings, in their order. */
    public Map<String, String> texts() {
        if (fields.isEmpty()) {
            return Map.of();
        }
        LinkedHashMap<String, String> texts = new LinkedHashMap<>();
        fields.forEach((name, value) -> {
            if (value instanceof JsonString string) {
                texts.put(name, string.value());
            }
        });
        return Collections.unmodifiableMap(texts);
    }

    /** This object with the field {@code name} set to {@code value}. */
    public JsonObject with(String name, JsonValue value) {
        return toBuilder().put(name, value).build();
    }

    /** This object with the field {@code name} set to the string {@code value}. */
    public JsonObject with(String name, String value) {
        return with(name, new JsonString(value));
    }

    /** This object without the field {@code name}. */
    public JsonObject without(String name) {
        return fields.containsKey(name) ? toBuilder().remove(name).build() : this;
    }

    /** This object with the object {@code name} (empty if absent) changed by {@code change}. */
    public JsonObject update(String name, UnaryOperator<JsonObject> change) {
        return with(name, change.apply(object(name)));
    }

    @Override
    public String kind() {
        return "object";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof JsonObject object && fields.equals(object.fields);
    }

    @Override
    public int hashCode() {
        return fields.hashCode();
    }

    @Override
    public String toString() {
        return Json.write(this);
    }

    /**
     * Collects fields; not thread-safe. A later value of a field replaces the earlier one in its place. A built object
     * does not change: the fields are copied only when the builder is changed after {@link #build}.
     */
    public static final class Builder {
        private FieldMap fields;
        /** Whether an object has these fields, so that they must not change any more. */
        private boolean shared;

        private Builder(FieldMap fields, boolean shared) {
            this.fields = fields;
            this.shared = shared;
        }

        private FieldMap own() {
            if (shared) {
                fields = new FieldMap(fields);
                shared = false;
            }
            return fields;
        }

        /** The current field {@code name}. */
        public Optional<JsonValue> get(String name) {
            return Optional.ofNullable(fields.get(name));
        }

        /** Sets a field; true if it is new. */
        boolean add(String name, JsonValue value) {
            return own().set(name, value);
        }

        /** Sets a field. */
        public Builder put(String name, JsonValue value) {
            // Most writes repeat an object's current value; then nothing needs to be copied.
            if (!shared || !value.equals(fields.get(name))) {
                own().set(name, value);
            }
            return this;
        }

        /** Sets a field to a string. */
        public Builder put(String name, String value) {
            return put(name, new JsonString(value));
        }

        /** Sets a field to a whole number. */
        public Builder put(String name, long value) {
            return put(name, JsonNumber.of(value));
        }

        /** Sets a field to a boolean. */
        public Builder put(String name, boolean value) {
            return put(name, value ? JsonBool.TRUE : JsonBool.FALSE);
        }

        /** Sets a field to a string unless that is empty: what the API calls omitempty. */
        public Builder putUnlessEmpty(String name, String value) {
            return value.isEmpty() ? this : put(name, value);
        }

        /** Removes a field. */
        public Builder remove(String name) {
            if (!shared || fields.containsKey(name)) {
                own().unset(name);
            }
            return this;
        }

        /** The object so far; the builder can be used further. */
        public JsonObject build() {
            fields.compact();
            shared = true;
            return new JsonObject(fields);
        }
    }
}
