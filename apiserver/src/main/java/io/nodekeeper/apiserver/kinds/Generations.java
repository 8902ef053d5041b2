package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;

/** Maintains {@code generation}: it counts the changes of the spec and the deletion, so that a status can say which spec it is for. */
public final class Generations {
    private Generations() {}

    /** A new object: without a status, of generation 1. */
    public static JsonObject first(JsonObject object) {
        return with(object.without("status"), 1);
    }

    /** An object that replaces {@code old}. */
    public static JsonObject next(JsonObject object, JsonObject old) {
        return next(object, old, !object.get("spec").equals(old.get("spec")));
    }

    /** An object that replaces {@code old}, of a kind whose generation counts other changes. */
    public static JsonObject next(JsonObject object, JsonObject old, boolean changed) {
        long before = old.object("metadata").number("generation").orElse(1L);
        return with(object, changed ? before + 1 : before);
    }

    /** An object that is being marked as deleted: that counts, too, if its kind has generations (as in Kubernetes). */
    public static JsonObject marked(JsonObject object) {
        long before = object.object("metadata").number("generation").orElse(0L);
        return before > 0 ? with(object, before + 1) : object;
    }

    private static JsonObject with(JsonObject object, long generation) {
        return object.update("metadata", metadata -> metadata.with("generation", JsonNumber.of(generation)));
    }
}
