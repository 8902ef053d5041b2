package io.nodekeeper.apiserver.kinds.storage;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;

/**
 * Compares objects of which a client may have sent one back: clients in Go leave out fields that are false, zero or
 * empty, so these are the same as absent ones.
 */
final class SemanticEquality {
    private SemanticEquality() {}

    /** Whether both mean the same. */
    static boolean of(JsonObject one, JsonObject other) {
        return one.equals(other) || essence(one).equals(essence(other));
    }

    /** {@code value} without what a client may leave out. */
    private static JsonValue essence(JsonValue value) {
        return switch (value) {
            case JsonObject object -> {
                JsonObject.Builder rest = JsonObject.builder();
                object.fields().forEach((name, field) -> {
                    JsonValue kept = essence(field);
                    if (!isZero(kept)) {
                        rest.put(name, kept);
                    }
                });
                yield rest.build();
            }
            case JsonArray array ->
                new JsonArray(
                        array.items().stream().map(SemanticEquality::essence).toList());
            default -> value;
        };
    }

    private static boolean isZero(JsonValue value) {
        return switch (value) {
            case JsonObject object -> object.isEmpty();
            case JsonArray array -> array.isEmpty();
            case JsonString string -> string.value().isEmpty();
            case JsonNumber number -> number.isLong() && number.longValue() == 0;
            case JsonBool bool -> !bool.value();
            case JsonNull none -> true;
        };
    }
}
