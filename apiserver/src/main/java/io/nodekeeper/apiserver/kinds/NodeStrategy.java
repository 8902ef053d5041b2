package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The rules of Nodes. */
public final class NodeStrategy implements Strategy {
    private static final List<String> EFFECTS = List.of(Taint.NO_SCHEDULE, Taint.PREFER_NO_SCHEDULE, Taint.NO_EXECUTE);

    /** Taints every new node until the controller has seen it Ready (admission plugin TaintNodesByCondition). */
    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        JsonObject node = mirrorPodCidr(object);
        boolean tainted = node.object("spec")
                .array("taints")
                .objects()
                .anyMatch(taint -> taint.text("key").equals(Taint.NOT_READY)
                        && taint.text("effect").equals(Taint.NO_SCHEDULE));
        if (tainted) {
            return node;
        }
        JsonObject taint = JsonObject.builder()
                .put("key", Taint.NOT_READY)
                .put("effect", Taint.NO_SCHEDULE)
                .build();
        return node.update(
                "spec", spec -> spec.with("taints", spec.array("taints").plus(taint)));
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return mirrorPodCidr(object);
    }

    @Override
    public List<FieldError> validate(JsonObject node) {
        List<FieldError> errors = new ArrayList<>();
        List<Taint> taints =
                node.object("spec").array("taints").objects().map(Taint::new).toList();
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < taints.size(); i++) {
            // The field is spec.taints, but Kubernetes' message names it so, and tools match on it.
            taint("metadata.taints[" + i + "]", taints.get(i), seen, errors);
        }
        PodCidrs.check(node.object("spec").array("podCIDRs").strings().toList(), errors);
        Set<String> addresses = new HashSet<>();
        List<JsonObject> list =
                node.object("status").array("addresses").objects().toList();
        for (int i = 0; i < list.size(); i++) {
            if (!addresses.add(list.get(i).text("type") + "/" + list.get(i).text("address"))) {
                errors.add(FieldError.duplicate(
                        "status.addresses[" + i + "]", list.get(i).toString()));
            }
        }
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject node, JsonObject old) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = node.object("spec");
        JsonObject before = old.object("spec");
        if (!before.array("podCIDRs").isEmpty() && !before.array("podCIDRs").equals(spec.array("podCIDRs"))) {
            errors.add(FieldError.forbidden(
                    "spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid"));
        }
        String provider = before.text("providerID");
        if (!provider.isEmpty() && !provider.equals(spec.text("providerID"))) {
            errors.add(FieldError.forbidden(
                    "spec.providerID", "node updates may not change providerID except from \"\" to valid"));
        }
        return errors;
    }

    private static void taint(String path, Taint taint, Set<String> seen, List<FieldError> errors) {
        Names.qualifiedFault(taint.key())
                .ifPresent(fault -> errors.add(FieldError.invalid(path + ".key", quoted(taint.key()), fault)));
        Names.labelValueFault(taint.value())
                .ifPresent(fault -> errors.add(FieldError.invalid(path + ".value", quoted(taint.value()), fault)));
        if (taint.effect().isEmpty()) {
            errors.add(FieldError.required(path + ".effect", ""));
        } else if (!EFFECTS.contains(taint.effect())) {
            errors.add(FieldError.notSupported(
                    path + ".effect", quoted(taint.effect()), "\"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""));
        }
        if (!seen.add(taint.key() + ":" + taint.effect())) {
            errors.add(FieldError.duplicate(path, taint.json() + ": taints must be unique by key and effect pair"));
        }
    }

    private static JsonObject mirrorPodCidr(JsonObject node) {
        JsonObject spec = node.object("spec");
        String first = spec.array("podCIDRs").strings().findFirst().orElse("");
        String older = spec.text("podCIDR");
        // A client that knows only the older field changes only that.
        if (!older.isEmpty() && !older.equals(first)) {
            JsonArray list = JsonArray.of(new JsonString(older));
            return node.update("spec", old -> old.with("podCIDRs", list));
        }
        return first.isEmpty() ? node : node.update("spec", old -> old.with("podCIDR", first));
    }

    private static String quoted(String text) {
        return new JsonString(text).toString();
    }
}
