package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.List;
import java.util.Optional;

/** A Node of core/v1. */
public record Node(JsonObject json) implements ApiObject {

    /** {@code status.conditions}, in their order. */
    public List<Condition> conditions() {
        return status().array("conditions").objects().map(Condition::new).toList();
    }

    /** The condition of that {@code type}. */
    public Optional<Condition> condition(String type) {
        return status().array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals(type))
                .findFirst()
                .map(Condition::new);
    }

    /** The Ready condition; absent on a node that never reported. */
    public Optional<Condition> ready() {
        return condition(Condition.READY);
    }

    /** Whether Ready is True. */
    public boolean isReady() {
        return ready().filter(ready -> ready.status().equals(Condition.TRUE)).isPresent();
    }

    /** {@code spec.taints}, in their order. */
    public List<Taint> taints() {
        return spec().array("taints").objects().map(Taint::new).toList();
    }

    /** Whether it has a taint with that key and effect. */
    public boolean hasTaint(String key, String effect) {
        return taints().stream()
                .anyMatch(taint -> taint.key().equals(key) && taint.effect().equals(effect));
    }

    /** {@code spec.unschedulable}: cordoned. */
    public boolean unschedulable() {
        return spec().bool("unschedulable");
    }

    /** This node with other conditions. */
    public Node withConditions(List<Condition> conditions) {
        JsonArray array = new JsonArray(
                conditions.stream().<JsonValue>map(Condition::json).toList());
        return new Node(json.update("status", status -> status.with("conditions", array)));
    }
}
