package io.nodekeeper.apiserver.fields;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.function.UnaryOperator;

/** Changes single fields of an object: sets defaults, and updates nested objects. */
public final class ObjectFields {
    private ObjectFields() {}

    /** {@code object} with {@code value} as its field {@code name}, unless the field is a non-empty string. */
    public static JsonObject text(JsonObject object, String name, String value) {
        return object.text(name).isEmpty() ? object.with(name, value) : object;
    }

    /** {@code object} with {@code value} as its field {@code name}, unless the field exists. */
    public static JsonObject value(JsonObject object, String name, JsonValue value) {
        return object.has(name) ? object : object.with(name, value);
    }

    /** {@code object} with {@code value} as its field {@code name}, unless the field is a number other than zero. */
    public static JsonObject number(JsonObject object, String name, long value) {
        return object.number(name).orElse(0L) == 0 && value != 0 ? object.with(name, JsonNumber.of(value)) : object;
    }

    /** {@code object} with its object {@code name} changed, if it exists. */
    public static JsonObject inside(JsonObject object, String name, UnaryOperator<JsonObject> change) {
        return object.has(name) ? object.update(name, change) : object;
    }

    /** {@code object} with each object in its list {@code name} changed, if it exists. */
    public static JsonObject each(JsonObject object, String name, UnaryOperator<JsonObject> change) {
        if (!object.has(name)) {
            return object;
        }
        return object.with(
                name,
                new JsonArray(object.array(name).items().stream()
                        .<JsonValue>map(item -> item instanceof JsonObject known ? change.apply(known) : item)
                        .toList()));
    }

    /** {@code object} with the field {@code name} of {@code source}; without the field if {@code source} has none. */
    public static JsonObject copied(JsonObject object, JsonObject source, String name) {
        return source.get(name).map(value -> object.with(name, value)).orElseGet(() -> object.without(name));
    }
}
