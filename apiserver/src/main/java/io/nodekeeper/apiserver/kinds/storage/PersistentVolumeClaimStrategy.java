package io.nodekeeper.apiserver.kinds.storage;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The rules of PersistentVolumeClaims. */
public final class PersistentVolumeClaimStrategy implements Strategy {

    @Override
    public JsonObject withDefaults(JsonObject object) {
        return object.update("spec", spec -> ObjectFields.text(spec, "volumeMode", "Filesystem"));
    }

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return withDefaults(object).with("status", JsonObject.EMPTY.with("phase", "Pending"));
    }

    @Override
    public List<FieldError> validate(JsonObject claim) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = claim.object("spec");
        AccessModes.check(spec, errors);
        if (!spec.object("resources").object("requests").has("storage")) {
            errors.add(FieldError.required("spec.resources[storage]", ""));
        }
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject claim, JsonObject old) {
        JsonObject before = old.object("spec");
        boolean same = fixed(claim.object("spec"), before).equals(fixed(before, before));
        return same
                ? List.of()
                : List.of(FieldError.forbidden(
                        "spec",
                        "spec is immutable after creation except resources.requests and volumeAttributesClassName for"
                                + " bound claims"));
    }

    /** What of {@code spec} may not change: a controller sets the volume and the class of a claim that has none. */
    private static JsonObject fixed(JsonObject spec, JsonObject before) {
        JsonObject rest = spec.update("resources", resources -> resources.without("requests"))
                .without("volumeAttributesClassName");
        rest = before.text("volumeName").isEmpty() ? rest.without("volumeName") : rest;
        return before.has("storageClassName") ? rest : rest.without("storageClassName");
    }
}
