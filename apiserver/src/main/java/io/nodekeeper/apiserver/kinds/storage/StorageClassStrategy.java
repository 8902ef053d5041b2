package io.nodekeeper.apiserver.kinds.storage;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;

/** The rules of StorageClasses. */
public final class StorageClassStrategy implements Strategy {
    private static final List<String> POLICIES = List.of("Delete", "Retain");
    private static final List<String> BINDINGS = List.of("Immediate", "WaitForFirstConsumer");

    @Override
    public JsonObject withDefaults(JsonObject object) {
        return ObjectFields.text(
                ObjectFields.text(object, "reclaimPolicy", "Delete"), "volumeBindingMode", "Immediate");
    }

    @Override
    public List<FieldError> validate(JsonObject storageClass) {
        List<FieldError> errors = new ArrayList<>();
        if (storageClass.text("provisioner").isEmpty()) {
            errors.add(FieldError.required("provisioner", ""));
        }
        oneOf(storageClass, "reclaimPolicy", POLICIES, errors);
        oneOf(storageClass, "volumeBindingMode", BINDINGS, errors);
        return errors;
    }

    private static void oneOf(JsonObject object, String field, List<String> values, List<FieldError> errors) {
        String value = object.text(field);
        if (!values.contains(value)) {
            errors.add(FieldError.notSupported(field, AccessModes.quoted(value), AccessModes.listed(values)));
        }
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject storageClass, JsonObject old) {
        List<FieldError> errors = new ArrayList<>();
        if (!storageClass.object("parameters").equals(old.object("parameters"))) {
            errors.add(FieldError.forbidden("parameters", "updates to parameters are forbidden."));
        }
        for (String field : List.of("provisioner", "reclaimPolicy")) {
            if (!storageClass.text(field).equals(old.text(field))) {
                errors.add(FieldError.forbidden(field, "updates to " + field + " are forbidden."));
            }
        }
        errors.addAll(Strategy.immutable("", storageClass, old, List.of("volumeBindingMode")));
        return errors;
    }
}
