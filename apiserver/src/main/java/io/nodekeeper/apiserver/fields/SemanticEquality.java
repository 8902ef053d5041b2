package io.nodekeeper.apiserver.fields;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import java.util.Optional;
import java.util.Set;

/**
 * Compares objects of which a client may have sent one back: clients in Go leave out fields that are false, zero or
 * empty, so these are the same as absent ones. Entries of maps, such as labels, are never left out.
 */
public final class SemanticEquality {
    private SemanticEquality() {}

    /** Whether both mean the same. Without a schema they must have no maps. */
    public static boolean of(JsonObject one, JsonObject other, Optional<Schema> schema) {
        return one.equals(other) || essence(one, schema, Set.of()).equals(essence(other, schema, Set.of()));
    }

    /**
     * {@code object} without what a client may leave out.
     * @param kept the names of fields whose zero differs from an absent value: pointers in Go
     */
    public static JsonObject essence(JsonObject object, Optional<Schema> schema, Set<String> kept) {
        boolean map = schema.orElse(Schema.Scalar.ANY) instanceof Schema.MapOf;
        JsonObject.Builder rest = JsonObject.builder();
        object.fields().forEach((name, field) -> {
            JsonValue inner = inner(field, schema.flatMap(known -> known.field(name)), kept);
            if (map || kept.contains(name) || !isZero(inner)) {
                rest.put(name, inner);
            }
        });
        return rest.build();
    }

    private static JsonValue inner(JsonValue value, Optional<Schema> schema, Set<String> kept) {
        return switch (value) {
            case JsonObject object -> essence(object, schema, kept);
            case JsonArray array -> {
                Optional<Schema> item = schema.orElse(Schema.Scalar.ANY) instanceof Schema.ListOf list
                        ? Optional.of(list.item())
                        : Optional.empty();
                yield new JsonArray(array.items().stream()
                        .map(one -> inner(one, item, kept))
                        .toList());
            }
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
