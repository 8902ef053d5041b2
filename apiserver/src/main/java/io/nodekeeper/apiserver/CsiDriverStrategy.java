package io.nodekeeper.apiserver;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonBool;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonString;
import java.time.Instant;
import java.util.List;

/** The rules of CSIDrivers. */
final class CsiDriverStrategy implements Strategy {

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return object.update("spec", given -> {
            JsonObject spec = Defaults.value(given, "attachRequired", JsonBool.TRUE);
            spec = Defaults.value(spec, "podInfoOnMount", JsonBool.FALSE);
            spec = Defaults.value(spec, "storageCapacity", JsonBool.FALSE);
            spec = Defaults.value(spec, "requiresRepublish", JsonBool.FALSE);
            spec = Defaults.text(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
            return Defaults.value(spec, "volumeLifecycleModes", JsonArray.of(new JsonString("Persistent")));
        });
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return prepareCreate(object, Instant.EPOCH);
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject driver, JsonObject old) {
        return Strategy.immutable(
                "spec.", driver.object("spec"), old.object("spec"), List.of("attachRequired", "volumeLifecycleModes"));
    }
}
