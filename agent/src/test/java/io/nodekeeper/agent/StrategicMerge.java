package io.nodekeeper.agent;

import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonNull;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a server does with a strategic merge patch of a Node: conditions and addresses are merged by type. */
final class StrategicMerge {
    private static final Set<String> BY_TYPE = Set.of("conditions", "addresses");

    private StrategicMerge() {}

    static JsonObject apply(JsonObject stored, JsonObject patch) {
        JsonObject.Builder result = stored.toBuilder();
        patch.fields().forEach((name, value) -> {
            if (name.startsWith("$")) {
                return;
            }
            if (value == JsonNull.NULL) {
                result.remove(name);
            } else if (value instanceof JsonObject object) {
                result.put(name, apply(stored.object(name), object));
            } else if (value instanceof JsonArray array && BY_TYPE.contains(name)) {
                result.put(name, merge(stored.array(name), array));
            } else {
                result.put(name, value);
            }
        });
        return result.build();
    }

    private static JsonArray merge(JsonArray stored, JsonArray patch) {
        if (patch.objects().anyMatch(item -> item.text("$patch").equals("replace"))) {
            return new JsonArray(patch.objects()
                    .filter(item -> !item.has("$patch"))
                    .<JsonValue>map(item -> item)
                    .toList());
        }
        Map<String, JsonObject> merged = new LinkedHashMap<>();
        stored.objects().forEach(item -> merged.put(item.text("type"), item));
        patch.objects().forEach(item -> merged.merge(item.text("type"), item, (old, change) -> apply(old, change)));
        List<JsonValue> items = new ArrayList<>(merged.values());
        return new JsonArray(items);
    }
}
