package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.node.NodeGraph;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.pods.PodDefaults;
import io.nodekeeper.apiserver.pods.validation.PodRules;
import io.nodekeeper.apiserver.pods.validation.PodUpdates;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;

/** The rules of writes to {@code pods/ephemeralcontainers}: they change nothing but that list, and only add to it. */
final class EphemeralContainersStrategy implements Strategy {
    private static final String LIST = "ephemeralContainers";

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        JsonObject asked = object.object("spec");
        return old.update("spec", spec -> PodDefaults.podSpec(ObjectFields.copied(spec, asked, LIST)));
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject pod, JsonObject old) {
        List<FieldError> errors = new ArrayList<>(PodRules.pod(pod));
        if (old.object("metadata").object("annotations").has(NodeGraph.CONFIG_MIRROR)) {
            return List.of(FieldError.forbidden("", "static pods do not support ephemeral containers"));
        }
        errors.addAll(PodUpdates.ephemeralContainers(pod, old.update("spec", PodDefaults::podSpec)));
        return errors;
    }
}
