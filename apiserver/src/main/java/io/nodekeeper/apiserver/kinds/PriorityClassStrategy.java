package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.pods.PriorityAdmission;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;

/** The rules of PriorityClasses. */
public final class PriorityClassStrategy implements Strategy {
    /** The highest value of a class that is not the system's (Kubernetes). */
    private static final long MOST = 1_000_000_000;

    private static final List<String> POLICIES = List.of(PriorityAdmission.PREEMPT, "Never");

    @Override
    public JsonObject withDefaults(JsonObject object) {
        return ObjectFields.text(
                ObjectFields.value(object, "value", JsonNumber.of(0)), "preemptionPolicy", PriorityAdmission.PREEMPT);
    }

    @Override
    public List<FieldError> validate(JsonObject object) {
        List<FieldError> errors = new ArrayList<>();
        String name = object.object("metadata").text("name");
        long value = object.number("value").orElse(0L);
        if (!PriorityAdmission.isBuiltIn(name)) {
            if (name.startsWith("system-")) {
                errors.add(FieldError.forbidden(
                        "metadata.name",
                        "priority class names with 'system-' prefix are reserved for system use only. error: priority"
                                + " class name is reserved for system use: " + name));
            }
            if (value > MOST) {
                errors.add(FieldError.invalid(
                        "value", Long.toString(value), "maximum allowed value of a user defined priority is " + MOST));
            }
        }
        String policy = object.text("preemptionPolicy");
        if (!POLICIES.contains(policy)) {
            errors.add(FieldError.notSupported(
                    "preemptionPolicy", "\"" + policy + "\"", "\"PreemptLowerPriority\", \"Never\""));
        }
        return errors;
    }

    @Override
    public List<FieldError> validateCreate(JsonObject object) {
        JsonObject name = object.object("metadata");
        return PriorityAdmission.BUILT_IN.stream()
                .filter(own -> own.object("metadata").text("name").equals(name.text("name"))
                        && !own.number("value").equals(object.number("value")))
                .map(own -> FieldError.forbidden(
                        "metadata.name",
                        "value of " + name.text("name") + " must be "
                                + own.number("value").orElseThrow()))
                .toList();
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject object, JsonObject old) {
        List<FieldError> errors = new ArrayList<>();
        if (!object.number("value").equals(old.number("value"))) {
            errors.add(FieldError.forbidden("value", "may not be changed in an update."));
        }
        errors.addAll(Strategy.immutable("", object, old, List.of("preemptionPolicy")));
        return errors;
    }
}
