package io.nodekeeper.controller.taints;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The changes that make a node's taints agree with its conditions. Keeps other taints, and taints that are right
 * already with their {@code timeAdded}.
 *
 * @param version the version of the node that the plan is for
 * @param taints all taints that the node should have
 * @param added the taints to add, as {@code key:effect}
 * @param removed the taints to remove, as {@code key:effect}
 * @param tainted whether the node gets a NoExecute taint and had none before
 * @param more whether another write must remove more
 */
record TaintPlan(
        String version, List<Taint> taints, Set<String> added, Set<String> removed, boolean tainted, boolean more) {

    /**
     * The rules for a plan.
     * @param rule what may be done about NoExecute
     * @param held whether taints for a node that is not ready must stay when it is Ready again
     * @param oneWrite whether to add and to remove in one write; if not, additions are written first. In one write, a
     *     NoExecute taint that replaces the other keeps its {@code timeAdded}: the node has failed since then, and
     *     eviction times continue
     */
    record Manner(NoExecute rule, boolean held, boolean oneWrite) {}

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

    private static final Set<String> READINESS = Set.of(Taint.NOT_READY, Taint.UNREACHABLE);

    /** The plan; empty if nothing must change. */
    static Optional<TaintPlan> of(Node node, Manner manner, Instant wallTime) {
        String ready = node.ready().map(Condition::status).orElse("");
        boolean held = manner.held && ready.equals(Condition.TRUE);
        List<Taint> come = new ArrayList<>();
        List<Taint> go = new ArrayList<>();
        Set<String> missing = desired(node);
        List<Taint> noExecute = new ArrayList<>();
        for (Taint taint : node.taints()) {
            boolean readiness = READINESS.contains(taint.key());
            if (taint.effect().equals(Taint.NO_EXECUTE) && readiness) {
                noExecute.add(taint);
            } else if (taint.effect().equals(Taint.NO_SCHEDULE) && OURS.contains(taint.key())) {
                boolean right = missing.remove(taint.key());
                if (!right && !(held && readiness)) {
                    go.add(taint);
                }
            }
        }
        missing.forEach(key -> come.add(Taint.of(key, Taint.NO_SCHEDULE, wallTime)));
        Set<String> wanted = wantedNoExecute(ready, noExecute, manner.rule, held);
        noExecute.stream().filter(taint -> !wanted.remove(taint.key())).forEach(go::add);
        wanted.forEach(key -> come.add(
                manner.oneWrite && !noExecute.isEmpty()
                        ? new Taint(noExecute.getFirst().json().with("key", key))
                        : Taint.of(key, Taint.NO_EXECUTE, wallTime)));
        if (come.isEmpty() && go.isEmpty()) {
            return Optional.empty();
        }
        boolean more = !manner.oneWrite && !come.isEmpty() && !go.isEmpty();
        List<Taint> removed = more ? List.of() : go;
        List<Taint> taints = new ArrayList<>(node.taints());
        taints.removeAll(removed);
        taints.addAll(come);
        boolean tainted = noExecute.isEmpty() && !wanted.isEmpty();
        return Optional.of(
                new TaintPlan(node.resourceVersion(), List.copyOf(taints), texts(come), texts(removed), tainted, more));
    }

    /** The strategic merge patch for the plan. It has the version, so that it fails if the node has changed. */
    JsonObject patch() {
        JsonValue list = taints.isEmpty()
                ? JsonNull.NULL
                : new JsonArray(taints.stream().<JsonValue>map(Taint::json).toList());
        return JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("resourceVersion", version))
                .put("spec", JsonObject.EMPTY.with("taints", list))
                .build();
    }

    /** The keys of the two NoExecute taints that the node should have. */
    private static Set<String> wantedNoExecute(String ready, List<Taint> there, NoExecute rule, boolean held) {
        Set<String> unchanged = new LinkedHashSet<>();
        there.forEach(taint -> unchanged.add(taint.key()));
        if (rule == NoExecute.STRIP) {
            return new LinkedHashSet<>();
        }
        if (rule == NoExecute.LEAVE || held || (there.isEmpty() && rule != NoExecute.ADD)) {
            return unchanged;
        }
        return switch (ready) {
            case Condition.TRUE -> new LinkedHashSet<>();
            case Condition.FALSE -> new LinkedHashSet<>(List.of(Taint.NOT_READY));
            case Condition.UNKNOWN -> new LinkedHashSet<>(List.of(Taint.UNREACHABLE));
            default -> unchanged;
        };
    }

    /** The keys of the NoSchedule taints that the node should have. */
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

    private static Set<String> texts(List<Taint> taints) {
        Set<String> texts = new LinkedHashSet<>();
        taints.forEach(taint -> texts.add(taint.key() + ":" + taint.effect()));
        return texts;
    }
}
