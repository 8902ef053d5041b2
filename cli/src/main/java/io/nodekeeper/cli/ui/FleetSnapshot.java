package io.nodekeeper.cli.ui;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The fleet at one moment: the status without its long lists, and a row per node. Immutable.
 *
 * @param status counts, sight, lag, zones and what comes next
 * @param rows each node's row by its name
 */
record FleetSnapshot(JsonObject status, Map<String, JsonValue> rows) {
    /** What the page shows of {@code /debug/status}; the other lists are in the rows. */
    private static final List<String> SHOWN = List.of(
            "at",
            "sight",
            "lag",
            "nodes",
            "ready",
            "notReady",
            "unknown",
            "neverReported",
            "zones",
            "longestSilent",
            "next",
            "notWorking");

    /** The snapshot in the pages {@code /debug/status} and {@code /debug/fleet}. */
    static FleetSnapshot of(JsonObject status, JsonObject fleet) {
        JsonObject.Builder shown = JsonObject.builder();
        SHOWN.forEach(name -> status.get(name).ifPresent(value -> shown.put(name, value)));
        Map<String, JsonValue> rows =
                LinkedHashMap.newLinkedHashMap(fleet.array("rows").items().size());
        for (JsonValue row : fleet.array("rows").items()) {
            if (row instanceof JsonArray(var items)
                    && !items.isEmpty()
                    && items.getFirst() instanceof JsonString name) {
                rows.put(name.value(), row);
            }
        }
        return new FleetSnapshot(shown.build(), rows);
    }

    /** All of it. */
    JsonObject json() {
        return JsonObject.builder()
                .put("status", status)
                .put("rows", new JsonArray(List.copyOf(rows.values())))
                .build();
    }

    /** The event for a reader that has nothing yet. */
    byte[] first() {
        return event("fleet", json());
    }

    /** The event for a reader that has {@code base}: each changed node once, with its state now. */
    byte[] since(FleetSnapshot base) {
        List<JsonValue> changed = new ArrayList<>();
        rows.forEach((name, row) -> {
            if (!row.equals(base.rows().get(name))) {
                changed.add(row);
            }
        });
        List<String> gone = base.rows().keySet().stream()
                .filter(name -> !rows.containsKey(name))
                .toList();
        return event(
                "changes",
                JsonObject.builder()
                        .put("status", status)
                        .put("changed", new JsonArray(changed))
                        .put("gone", JsonArray.ofStrings(gone))
                        .build());
    }

    /** One server-sent event; JSON on one line contains no line break. */
    static byte[] event(String name, JsonObject data) {
        return ("event: " + name + "\ndata: " + Json.write(data) + "\n\n").getBytes(StandardCharsets.UTF_8);
    }
}
