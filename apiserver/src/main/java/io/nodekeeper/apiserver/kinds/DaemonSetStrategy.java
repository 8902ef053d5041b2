package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.selector.LabelSelectors;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.pods.PodDefaults;
import io.nodekeeper.apiserver.pods.validation.PodRules;
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
        return set.update("spec", given -> {
            JsonObject spec = given.update("template", template -> template.update("spec", PodDefaults::templateSpec));
            spec = spec.update("updateStrategy", DaemonSetStrategy::defaultedStrategy);
            return ObjectFields.value(spec, "revisionHistoryLimit", JsonNumber.of(10));
        });
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
        return templateErrors(set);
    }

    @Override
    public List<FieldError> validate(JsonObject set) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = set.object("spec");
        JsonObject selector = spec.object("selector");
        JsonObject labels = spec.object("template").object("metadata").object("labels");
        if (selector.isEmpty()) {
            errors.add(FieldError.required("spec.selector", ""));
        } else if (!LabelSelectors.matches(selector, labels.texts())) {
            errors.add(FieldError.invalid(
                    "spec.template.metadata.labels", labels.toString(), "`selector` does not match template `labels`"));
        }
        for (String field : List.of("minReadySeconds", "revisionHistoryLimit")) {
            spec.number(field)
                    .filter(number -> number < 0)
                    .ifPresent(number -> errors.add(FieldError.invalid(
                            "spec." + field, number.toString(), "must be greater than or equal to 0")));
        }
        String type = spec.object("updateStrategy").text("type");
        if (!UPDATES.contains(type)) {
            errors.add(FieldError.notSupported(
                    "spec.updateStrategy", "\"" + type + "\"", "\"RollingUpdate\", \"OnDelete\""));
        }
        return errors;
    }

    private static List<FieldError> templateErrors(JsonObject set) {
        JsonObject template = set.object("spec").object("template");
        List<FieldError> errors = new ArrayList<>(PodRules.template(template, "spec.template"));
        JsonObject spec = template.object("spec");
        String restart = spec.text("restartPolicy");
        if (!restart.equals("Always")) {
            errors.add(
                    FieldError.notSupported("spec.template.spec.restartPolicy", "\"" + restart + "\"", "\"Always\""));
        }
        if (spec.has("activeDeadlineSeconds")) {
            errors.add(FieldError.forbidden(
                    "spec.template.spec.activeDeadlineSeconds", "activeDeadlineSeconds in DaemonSet is not Supported"));
        }
        return errors;
    }

    /**
     * An unchanged template is not validated, so that a template accepted by an earlier version does not block all
     * updates.
     */
    @Override
    public List<FieldError> validateUpdate(JsonObject set, JsonObject old) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = set.object("spec");
        JsonObject before = old.object("spec");
        if (!spec.object("selector").equals(before.object("selector"))) {
            errors.add(
                    FieldError.invalid("spec.selector", spec.object("selector").toString(), "field is immutable"));
        }
        if (!spec.object("template").equals(before.object("template"))) {
            errors.addAll(templateErrors(set));
        }
        return errors;
    }
}
