package io.nodekeeper.apiserver.kinds.workloads;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.kinds.Generations;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The rules of DaemonSets. */
public final class DaemonSetStrategy implements Strategy {
    private static final List<String> UPDATES = List.of("RollingUpdate", "OnDelete");

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return Generations.first(withDefaults(object));
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return Generations.next(withDefaults(object), old);
    }

    @Override
    public JsonObject withDefaults(JsonObject set) {
        return set.update(
                "spec",
                spec -> PodTemplates.withDefaults(spec).update("updateStrategy", DaemonSetStrategy::defaultedStrategy));
    }

    private static JsonObject defaultedStrategy(JsonObject given) {
        JsonObject strategy = ObjectFields.text(given, "type", "RollingUpdate");
        return strategy.text("type").equals("RollingUpdate")
                ? strategy.update(
                        "rollingUpdate",
                        rolling -> ObjectFields.value(
                                ObjectFields.value(rolling, "maxUnavailable", JsonNumber.of(1)),
                                "maxSurge",
                                JsonNumber.of(0)))
                : strategy;
    }

    @Override
    public List<FieldError> validateCreate(JsonObject set) {
        return PodTemplates.validateTemplate(set, "DaemonSet");
    }

    @Override
    public List<FieldError> validate(JsonObject set) {
        List<FieldError> errors = new ArrayList<>(PodTemplates.validate(set));
        String type = set.object("spec").object("updateStrategy").text("type");
        if (!UPDATES.contains(type)) {
            errors.add(FieldError.notSupported(
                    "spec.updateStrategy", "\"" + type + "\"", "\"RollingUpdate\", \"OnDelete\""));
        }
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject set, JsonObject old) {
        return PodTemplates.validateUpdate(set, old, "DaemonSet");
    }
}
