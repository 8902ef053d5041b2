package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;

/** Maintains {@code generation}: it counts the changes of the spec, so that a status can say which spec it is for. */
final class Generations {
    private Generations() {}

    /** A new object: without a status, of generation 1. */
    static JsonObject first(JsonObject object) {
        return with(object.without("status"), 1);
    }

    /** An object that replaces {@code old}. */
    static JsonObject next(JsonObject object, JsonObject old) {
        long before = old.object("metadata").number("generation").orElse(1L);
        return with(object, object.get("spec").equals(old.get("spec")) ? before : before + 1);
    }

    private static JsonObject with(JsonObject object, long generation) {
        return object.update("metadata", metadata -> metadata.with("generation", JsonNumber.of(generation)));
    }
}
