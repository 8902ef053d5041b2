package io.nodekeeper.apiserver;

import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonValue;
import java.util.function.UnaryOperator;

/** Fills in what an object does not say. */
final class Defaults {
    private Defaults() {}

    /** {@code object} with {@code value} as its field {@code name}, unless it has one that says something. */
    static JsonObject text(JsonObject object, String name, String value) {
        return object.text(name).isEmpty() ? object.with(name, value) : object;
    }

    /** {@code object} with {@code value} as its field {@code name}, unless it has one. */
    static JsonObject value(JsonObject object, String name, JsonValue value) {
        return object.has(name) ? object : object.with(name, value);
    }

    /** {@code object} with each object in the array {@code name} changed; itself if it has none. */
    static JsonObject each(JsonObject object, String name, UnaryOperator<JsonObject> change) {
        if (!object.has(name)) {
            return object;
        }
        return object.with(
                name,
                new JsonArray(object.array(name).items().stream()
                        .<JsonValue>map(item -> item instanceof JsonObject known ? change.apply(known) : item)
                        .toList()));
    }
}
