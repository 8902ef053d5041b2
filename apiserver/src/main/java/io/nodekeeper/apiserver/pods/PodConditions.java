package io.nodekeeper.apiserver.pods;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.List;

/** Reads and sets the conditions in a pod's status. */
public final class PodConditions {
    private PodConditions() {}

    /** Whether {@code status} has the condition {@code Ready} with status {@code True}. */
    public static boolean isReady(JsonObject status) {
        return status.array("conditions")
                .objects()
                .anyMatch(condition -> condition.text("type").equals("Ready")
                        && condition.text("status").equals("True"));
    }

    /** The pod with {@code condition}, which replaces all conditions of the same type. */
    public static JsonObject withCondition(JsonObject pod, JsonObject condition) {
        return pod.update("status", status -> {
            List<JsonValue> kept = status.array("conditions").items().stream()
                    .filter(item -> !(item instanceof JsonObject known
                            && known.text("type").equals(condition.text("type"))))
                    .toList();
            return status.with("conditions", new JsonArray(kept).plus(condition));
        });
    }
}
