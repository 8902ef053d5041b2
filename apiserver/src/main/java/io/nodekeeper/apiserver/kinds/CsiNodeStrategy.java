package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The rules of CSINodes; each kubelet creates its own. */
public final class CsiNodeStrategy implements Strategy {

    @Override
    public JsonObject withDefaults(JsonObject object) {
        return object.update("spec", spec -> ObjectFields.value(spec, "drivers", JsonArray.EMPTY));
    }

    @Override
    public List<FieldError> validate(JsonObject node) {
        List<FieldError> errors = new ArrayList<>();
        List<JsonObject> drivers =
                node.object("spec").array("drivers").objects().toList();
        Set<String> names = new HashSet<>();
        for (int i = 0; i < drivers.size(); i++) {
            String path = "spec.drivers[" + i + "]";
            String name = drivers.get(i).text("name");
            if (name.isEmpty()) {
                errors.add(FieldError.required(path + ".name", ""));
            } else if (!names.add(name)) {
                errors.add(FieldError.duplicate(path + ".name", "\"" + name + "\""));
            }
            if (drivers.get(i).text("nodeID").isEmpty()) {
                errors.add(FieldError.required(path + ".nodeID", ""));
            }
            Optional<Long> count = drivers.get(i).object("allocatable").number("count");
            count.filter(number -> number < 0)
                    .ifPresent(number -> errors.add(FieldError.invalid(
                            path + ".allocatable.count", Long.toString(number), "must be greater than or equal to 0")));
        }
        return errors;
    }

    /** As in Kubernetes: several clients write it, and none may overwrite what another has just written. */
    @Override
    public boolean needsResourceVersion() {
        return true;
    }
}
