package io.nodekeeper.apiserver.kinds.storage;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.PersistentVolumeSources;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The rules of PersistentVolumes. */
public final class PersistentVolumeStrategy implements Strategy {
    private static final List<String> POLICIES = List.of("Delete", "Recycle", "Retain");

    @Override
    public JsonObject withDefaults(JsonObject object) {
        return object.update(
                "spec",
                spec -> ObjectFields.text(
                        ObjectFields.text(spec, "persistentVolumeReclaimPolicy", "Retain"),
                        "volumeMode",
                        "Filesystem"));
    }

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return withDefaults(object).with("status", JsonObject.EMPTY.with("phase", "Pending"));
    }

    @Override
    public List<FieldError> validate(JsonObject volume) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = volume.object("spec");
        AccessModes.check(spec, errors);
        if (!spec.object("capacity").has("storage")) {
            errors.add(FieldError.required("spec.capacity", ""));
        }
        Map<String, JsonValue> sources = PersistentVolumeSources.of(spec);
        if (sources.isEmpty()) {
            errors.add(FieldError.required("spec", "must specify a volume type"));
        }
        sources.keySet().stream()
                .skip(1)
                .forEach(more ->
                        errors.add(FieldError.forbidden("spec." + more, "may not specify more than 1 volume type")));
        required(spec, "csi", List.of("driver", "volumeHandle"), errors);
        required(spec, "local", List.of("path"), errors);
        required(spec, "hostPath", List.of("path"), errors);
        if (spec.has("local") && !spec.object("nodeAffinity").has("required")) {
            errors.add(FieldError.required("spec.nodeAffinity", "Local volume requires node affinity"));
        }
        String policy = spec.text("persistentVolumeReclaimPolicy");
        if (!POLICIES.contains(policy)) {
            errors.add(FieldError.notSupported(
                    "spec.persistentVolumeReclaimPolicy", AccessModes.quoted(policy), AccessModes.listed(POLICIES)));
        }
        return errors;
    }

    private static void required(JsonObject spec, String source, List<String> fields, List<FieldError> errors) {
        if (spec.has(source)) {
            fields.stream()
                    .filter(field -> spec.object(source).text(field).isEmpty())
                    .map(field -> FieldError.required("spec." + source + "." + field, ""))
                    .forEach(errors::add);
        }
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject volume, JsonObject old) {
        List<FieldError> errors = new ArrayList<>(
                Strategy.immutable("spec.", volume.object("spec"), old.object("spec"), List.of("volumeMode")));
        if (!PersistentVolumeSources.of(volume.object("spec")).equals(PersistentVolumeSources.of(old.object("spec")))) {
            errors.add(FieldError.forbidden(
                    "spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"));
        }
        return errors;
    }
}
