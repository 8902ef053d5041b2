package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.registry.Strategy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The rules of CSINodes; each kubelet creates its own. */
public final class CsiNodeStrategy implements Strategy {
    /** The most bytes of a node's id at a driver (CSI's limit). */
    private static final int ID_BYTES = 256;

    @Override
    public JsonObject withDefaults(JsonObject object) {
        return object.update("spec", spec -> ObjectFields.value(spec, "drivers", JsonArray.EMPTY));
    }

    @Override
    public List<FieldError> validate(JsonObject node) {
        List<FieldError> errors = new ArrayList<>();
        List<JsonObject> drivers = drivers(node).toList();
        Set<String> names = new HashSet<>();
        for (int i = 0; i < drivers.size(); i++) {
            String path = "spec.drivers[" + i + "]";
            String name = drivers.get(i).text("name");
            if (name.isEmpty()) {
                errors.add(FieldError.required(path + ".name", ""));
            } else if (!names.add(name)) {
                errors.add(FieldError.duplicate(path + ".name", "\"" + name + "\""));
            }
            String id = drivers.get(i).text("nodeID");
            if (id.isEmpty()) {
                errors.add(FieldError.required(path + ".nodeID", ""));
            } else if (id.getBytes(StandardCharsets.UTF_8).length > ID_BYTES) {
                errors.add(FieldError.invalid(
                        path + ".nodeID", FieldCheck.quoted(id), "must be " + ID_BYTES + " characters or less"));
            }
            Optional<Long> count = drivers.get(i).object("allocatable").number("count");
            count.filter(number -> number < 0)
                    .ifPresent(number -> errors.add(FieldError.invalid(
                            path + ".allocatable.count", Long.toString(number), "must be greater than or equal to 0")));
        }
        return errors;
    }

    private static Stream<JsonObject> drivers(JsonObject node) {
        return node.object("spec").array("drivers").objects();
    }

    /** A driver stays what it is, except for the number of its volumes; it may be removed and added again. */
    @Override
    public List<FieldError> validateUpdate(JsonObject node, JsonObject old) {
        Map<String, JsonObject> known = new HashMap<>();
        drivers(old).forEach(driver -> known.put(driver.text("name"), driver));
        return drivers(node)
                .filter(driver -> !isSame(driver, known.getOrDefault(driver.text("name"), driver)))
                .map(driver -> FieldError.invalid(
                        "spec.drivers", driver.without("allocatable").toString(), "field is immutable"))
                .toList();
    }

    private static boolean isSame(JsonObject driver, JsonObject before) {
        return driver.text("nodeID").equals(before.text("nodeID"))
                && driver.array("topologyKeys").equals(before.array("topologyKeys"));
    }

    /** As in Kubernetes: several clients write it, and none may overwrite what another has just written. */
    @Override
    public boolean needsResourceVersion() {
        return true;
    }
}
