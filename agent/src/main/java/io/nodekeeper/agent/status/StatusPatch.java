package io.nodekeeper.agent.status;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Computes the strategic merge patch between two states of a node. Stateless. */
public final class StatusPatch {
    private static final String MERGE_KEY = "type";

    private StatusPatch() {}

    /** The patch from {@code before} to {@code after}: labels, annotations and status, never the spec. */
    public static JsonObject between(Node before, Node after) {
        JsonObject.Builder patch = JsonObject.builder();
        JsonObject.Builder metadata = JsonObject.builder();
        for (String map : List.of("labels", "annotations")) {
            put(
                    metadata,
                    map,
                    objects(before.metadata().object(map), after.metadata().object(map)));
        }
        put(patch, "metadata", metadata.build());
        put(patch, "status", status(before.status(), after.status()));
        return patch.build();
    }

    private static JsonObject status(JsonObject before, JsonObject after) {
        JsonObject plainBefore = before.without("conditions");
        JsonObject plainAfter = after.without("conditions");
        // The API merges addresses by type, which would mix up two of one type: replace the whole list instead.
        boolean replaceAddresses = !before.array("addresses").isEmpty()
                && !before.array("addresses").equals(after.array("addresses"));
        if (replaceAddresses) {
            plainBefore = plainBefore.without("addresses");
            plainAfter = plainAfter.without("addresses");
        }
        JsonObject.Builder status = JsonObject.builder();
        conditions(before.array("conditions"), after.array("conditions"), status);
        objects(plainBefore, plainAfter).fields().forEach(status::put);
        if (replaceAddresses) {
            status.put(
                    "addresses",
                    after.array("addresses")
                            .plus(JsonObject.builder().put("$patch", "replace").build()));
        }
        return status.build();
    }

    private static void conditions(JsonArray before, JsonArray after, JsonObject.Builder status) {
        if (before.equals(after)) {
            return;
        }
        Map<String, JsonObject> old = byType(before);
        Map<String, JsonObject> wanted = byType(after);
        List<JsonValue> order = new ArrayList<>();
        List<JsonValue> changes = new ArrayList<>();
        wanted.forEach((type, condition) -> {
            order.add(JsonObject.EMPTY.with(MERGE_KEY, type));
            JsonObject stored = old.get(type);
            if (stored == null) {
                changes.add(condition);
            } else if (!stored.equals(condition)) {
                changes.add(objects(stored, condition).with(MERGE_KEY, type));
            }
        });
        old.keySet().stream()
                .filter(type -> !wanted.containsKey(type))
                .forEach(type ->
                        changes.add(JsonObject.EMPTY.with("$patch", "delete").with(MERGE_KEY, type)));
        status.put("$setElementOrder/conditions", new JsonArray(order));
        if (!changes.isEmpty()) {
            status.put("conditions", new JsonArray(changes));
        }
    }

    private static Map<String, JsonObject> byType(JsonArray conditions) {
        Map<String, JsonObject> map = new LinkedHashMap<>();
        conditions.objects().forEach(condition -> map.put(condition.text(MERGE_KEY), condition));
        return map;
    }

    private static JsonObject objects(JsonObject before, JsonObject after) {
        JsonObject.Builder patch = JsonObject.builder();
        after.fields().forEach((name, value) -> {
            JsonValue old = before.get(name).orElse(JsonNull.NULL);
            if (value instanceof JsonObject wanted && old instanceof JsonObject stored) {
                put(patch, name, objects(stored, wanted));
            } else if (!value.equals(old) && !(value.equals(new JsonString("")) && old == JsonNull.NULL)) {
                patch.put(name, value);
            }
        });
        before.fields().forEach((name, value) -> {
            if (value != JsonNull.NULL && after.get(name).isEmpty()) {
                patch.put(name, JsonNull.NULL);
            }
        });
        return patch.build();
    }

    private static void put(JsonObject.Builder target, String name, JsonObject patch) {
        if (!patch.isEmpty()) {
            target.put(name, patch);
        }
    }
}
