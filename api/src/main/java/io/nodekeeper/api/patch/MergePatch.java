package io.nodekeeper.api.patch;

import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;

/** JSON merge patch (RFC 7386). */
public final class MergePatch {
    private MergePatch() {}

    /** {@code target} changed by {@code patch}: its fields replace, a null removes, objects merge. */
    public static JsonValue apply(JsonValue target, JsonValue patch) {
        if (!(patch instanceof JsonObject changes)) {
            return patch;
        }
        JsonObject base = target instanceof JsonObject object ? object : JsonObject.EMPTY;
        JsonObject.Builder result = base.toBuilder();
        changes.fields().forEach((name, change) -> {
            if (change == JsonNull.NULL) {
                result.remove(name);
            } else {
                result.put(name, apply(base.get(name).orElse(JsonNull.NULL), change));
            }
        });
        return result.build();
    }
}
