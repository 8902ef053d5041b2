package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;

/** The rules of CSIDrivers. */
public final class CsiDriverStrategy implements Strategy {
    private static final List<String> GROUP_POLICIES = List.of("ReadWriteOnceWithFSType", "File", "None");
    private static final List<String> MODES = List.of("Ephemeral", "Persistent");

    @Override
    public JsonObject withDefaults(JsonObject object) {
        return object.update("spec", given -> {
            JsonObject spec = ObjectFields.value(given, "attachRequired", JsonBool.TRUE);
            spec = ObjectFields.value(spec, "podInfoOnMount", JsonBool.FALSE);
            spec = ObjectFields.value(spec, "storageCapacity", JsonBool.FALSE);
            spec = ObjectFields.value(spec, "requiresRepublish", JsonBool.FALSE);
            spec = ObjectFields.text(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
            return ObjectFields.value(spec, "volumeLifecycleModes", JsonArray.of(new JsonString("Persistent")));
        });
    }

    @Override
    public List<FieldError> validate(JsonObject driver) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = driver.object("spec");
        String policy = spec.text("fsGroupPolicy");
        if (!GROUP_POLICIES.contains(policy)) {
            errors.add(FieldError.notSupported(
                    "spec.fsGroupPolicy", "\"" + policy + "\"", "\"ReadWriteOnceWithFSType\", \"File\", \"None\""));
        }
        for (String mode : spec.array("volumeLifecycleModes").strings().toList()) {
            if (!MODES.contains(mode)) {
                errors.add(FieldError.notSupported(
                        "spec.volumeLifecycleModes", "\"" + mode + "\"", "\"Ephemeral\", \"Persistent\""));
            }
        }
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject driver, JsonObject old) {
        return Strategy.immutable(
                "spec.", driver.object("spec"), old.object("spec"), List.of("attachRequired", "volumeLifecycleModes"));
    }

    /** As in Kubernetes: several clients write it, and none may overwrite what another has just written. */
    @Override
    public boolean needsResourceVersion() {
        return true;
    }
}
