package io.nodekeeper.apiserver;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.JsonNumber;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.LabelSelectors;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The rules of DaemonSets. */
final class DaemonSetStrategy implements Strategy {

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return Generations.first(defaulted(object));
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return Generations.next(defaulted(object), old);
    }

    private static JsonObject defaulted(JsonObject set) {
        return set.update("spec", given -> {
            JsonObject spec = given.update("template", template -> template.update("spec", PodStrategy::defaultedSpec));
            JsonObject rolling = JsonObject.builder()
                    .put("type", "RollingUpdate")
                    .put(
                            "rollingUpdate",
                            JsonObject.builder()
                                    .put("maxUnavailable", 1)
                                    .put("maxSurge", 0)
                                    .build())
                    .build();
            return Defaults.value(
                    Defaults.value(spec, "updateStrategy", rolling), "revisionHistoryLimit", JsonNumber.of(10));
        });
    }

    @Override
    public List<FieldError> validate(JsonObject set) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = set.object("spec");
        JsonObject selector = spec.object("selector");
        if (selector.isEmpty()) {
            errors.add(FieldError.required("spec.selector", ""));
        } else if (!LabelSelectors.matches(
                selector,
                spec.object("template").object("metadata").object("labels").texts())) {
            errors.add(FieldError.invalid(
                    "spec.template.metadata.labels",
                    spec.object("template").object("metadata").object("labels").toString(),
                    "`selector` does not match template `labels`"));
        }
        PodStrategy.containerErrors(
                "spec.template.spec", spec.object("template").object("spec"), errors);
        String restart = spec.object("template").object("spec").text("restartPolicy");
        if (!restart.equals("Always")) {
            errors.add(
                    FieldError.notSupported("spec.template.spec.restartPolicy", "\"" + restart + "\"", "\"Always\""));
        }
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject set, JsonObject old) {
        JsonObject selector = set.object("spec").object("selector");
        return selector.equals(old.object("spec").object("selector"))
                ? List.of()
                : List.of(FieldError.invalid("spec.selector", selector.toString(), "field is immutable"));
    }
}
