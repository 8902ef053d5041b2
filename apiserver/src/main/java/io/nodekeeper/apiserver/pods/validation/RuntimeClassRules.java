package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Validates RuntimeClasses. */
public final class RuntimeClassRules {
    private RuntimeClassRules() {}

    /** The errors in a RuntimeClass. */
    public static List<FieldError> check(JsonObject runtimeClass) {
        FieldCheck check = FieldCheck.of(runtimeClass, "");
        check.form("handler", Names::labelFault);
        ResourceRules.amounts(
                check.object("overhead"),
                "podFixed",
                runtimeClass.object("overhead").object("podFixed"));
        FieldCheck scheduling = check.object("scheduling");
        scheduling.labels("nodeSelector");
        SchedulingRules.tolerations(scheduling);
        Set<String> seen = new HashSet<>();
        for (FieldCheck toleration : scheduling.items("tolerations")) {
            if (!seen.add(Json.identity(toleration.value()))) {
                toleration.repeated();
            }
        }
        return check.errors();
    }
}
