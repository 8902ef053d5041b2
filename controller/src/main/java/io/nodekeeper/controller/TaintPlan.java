package io.nodekeeper.controller;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonNull;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonValue;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * How a node's NoSchedule taints have to change to tell what its conditions tell. Other effects and foreign keys are left
 * alone, and so are taints that are right already, their {@code timeAdded} included.
 *
 * @param version the version of the node that this was made for
 * @param taints all of the node's taints as they shall be
 * @param added the keys that come
 * @param removed the keys that go
 */
record TaintPlan(String version, List<Taint> taints, Set<String> added, Set<String> removed) {

    private static final Map<String, String> PRESSURE = Map.of(
            Condition.MEMORY_PRESSURE, Taint.MEMORY_PRESSURE,
            Condition.DISK_PRESSURE, Taint.DISK_PRESSURE,
            Condition.PID_PRESSURE, Taint.PID_PRESSURE,
            Condition.NETWORK_UNAVAILABLE, Taint.NETWORK_UNAVAILABLE);

    private static final Set<String> OURS = Set.of(
            Taint.NOT_READY,
            Taint.UNREACHABLE,
            Taint.UNSCHEDULABLE,
            Taint.MEMORY_PRESSURE,
            Taint.DISK_PRESSURE,
            Taint.PID_PRESSURE,
            Taint.NETWORK_UNAVAILABLE);

    /** What has to change, if anything. */
    static Optional<TaintPlan> of(Node node, Instant wallTime) {
        Set<String> desired = desired(node);
        Set<String> added = new LinkedHashSet<>(desired);
        Set<String> removed = new LinkedHashSet<>();
        List<Taint> taints = new ArrayList<>();
        for (Taint taint : node.taints()) {
            boolean ours = taint.effect().equals(Taint.NO_SCHEDULE) && OURS.contains(taint.key());
            if (ours && !desired.contains(taint.key())) {
                removed.add(taint.key());
            } else {
                taints.add(taint);
                if (ours) {
                    added.remove(taint.key());
                }
            }
        }
        if (added.isEmpty() && removed.isEmpty()) {
            return Optional.empty();
        }
        added.forEach(key -> taints.add(Taint.of(key, Taint.NO_SCHEDULE, wallTime)));
        return Optional.of(new TaintPlan(node.resourceVersion(), List.copyOf(taints), added, removed));
    }

    /** The strategic merge patch that does it; it carries the version, so that it fails if anything changed meanwhile. */
    JsonObject patch() {
        JsonValue list = taints.isEmpty()
                ? JsonNull.NULL
                : new JsonArray(taints.stream().<JsonValue>map(Taint::json).toList());
        return JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("resourceVersion", version))
                .put("spec", JsonObject.EMPTY.with("taints", list))
                .build();
    }

    private static Set<String> desired(Node node) {
        Set<String> desired = new LinkedHashSet<>();
        for (Condition condition : node.conditions()) {
            if (condition.type().equals(Condition.READY)) {
                switch (condition.status()) {
                    case Condition.FALSE -> desired.add(Taint.NOT_READY);
                    case Condition.UNKNOWN -> desired.add(Taint.UNREACHABLE);
                    default -> {}
                }
            } else if (condition.status().equals(Condition.TRUE) && PRESSURE.containsKey(condition.type())) {
                desired.add(PRESSURE.get(condition.type()));
            }
        }
        if (node.unschedulable()) {
            desired.add(Taint.UNSCHEDULABLE);
        }
        return desired;
    }
}
