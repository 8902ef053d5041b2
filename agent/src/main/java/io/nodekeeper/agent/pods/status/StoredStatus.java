package io.nodekeeper.agent.pods.status;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The status of a pod in the API, which the node shares with other clients: they have conditions of their own in it, such as
 * DisruptionTarget or those of readiness gates. So a report is compared and written condition by condition. Stateless.
 */
public final class StoredStatus {
    private static final String CONDITIONS = "conditions";

    /** Lists that the API merges by address, in which the former address would stay. */
    private static final List<String> ADDRESSES = List.of("podIPs", "hostIPs");

    private static final JsonObject REPLACE =
            JsonObject.builder().put("$patch", "replace").build();

    private StoredStatus() {}

    /** Whether {@code stored} has all of {@code report}. */
    public static boolean has(JsonObject stored, JsonObject report) {
        Set<JsonValue> conditions = new HashSet<>(stored.array(CONDITIONS).items());
        return conditions.containsAll(report.array(CONDITIONS).items())
                && report.without(CONDITIONS).fields().entrySet().stream()
                        .allMatch(field -> stored.get(field.getKey()).equals(Optional.of(field.getValue())));
    }

    /** The strategic merge patch that brings {@code report} into a status that has the addresses of {@code stored}. */
    public static JsonObject patch(JsonObject stored, JsonObject report) {
        JsonObject patch = report;
        List<JsonValue> conditions = new ArrayList<>();
        report.array(CONDITIONS).objects().forEach(condition -> conditions.add(whole(condition)));
        if (!conditions.isEmpty()) {
            patch = patch.with(CONDITIONS, new JsonArray(conditions));
        }
        for (String list : ADDRESSES) {
            JsonArray wanted = report.array(list);
            if (!wanted.isEmpty() && !stored.array(list).isEmpty()) {
                patch = patch.with(list, wanted.plus(REPLACE));
            }
        }
        return patch;
    }

    /** With a null for what {@code condition} does not have, or the stored one's reason would stay. */
    private static JsonObject whole(JsonObject condition) {
        JsonObject whole = condition;
        for (String field : List.of("reason", "message")) {
            if (condition.get(field).isEmpty()) {
                whole = whole.with(field, JsonNull.NULL);
            }
        }
        return whole;
    }
}
