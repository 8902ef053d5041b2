package io.nodekeeper.agent.status;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/** Sets the conditions that the agent owns; others' conditions stay as they are. Stateless. */
final class ConditionSetters {
    private ConditionSetters() {}

    /** Sets a pressure. Reason and message are written only when the status changes, as Kubernetes does. */
    static Node pressure(Node node, Pressure pressure, StatusInputs inputs, List<NodeEvent> events) {
        boolean present = inputs.pressures().contains(pressure);
        String status = present ? Condition.TRUE : Condition.FALSE;
        Optional<Condition> stored = node.condition(pressure.condition());
        if (stored.isPresent() && stored.get().status().equals(status)) {
            JsonObject beat = stored.get().json().with("lastHeartbeatTime", KubeTime.format(inputs.now()));
            return with(node, new Condition(beat));
        }
        events.add(NodeEvent.status(inputs.config().nodeName(), pressure.event(present)));
        return with(
                node,
                Condition.of(
                        pressure.condition(),
                        status,
                        pressure.reason(present),
                        pressure.message(present),
                        inputs.now(),
                        inputs.now()));
    }

    /** Sets Ready from the errors and from resources that the capacity lacks; to be called after all other setters. */
    static Node ready(Node node, StatusInputs inputs, List<NodeEvent> events) {
        List<String> errors = new ArrayList<>(inputs.errors().inOrder());
        missingCapacity(node, inputs.config()).ifPresent(errors::add);
        Optional<Condition> stored = node.ready();
        // After a restart first answers are missing; a node that was Ready stays Ready until they arrive.
        boolean held = inputs.starting()
                && node.isReady()
                && missingCapacity(node, inputs.config()).isEmpty();
        boolean ready = errors.isEmpty() || held;
        String status = ready ? Condition.TRUE : Condition.FALSE;
        boolean same = stored.isPresent() && stored.get().status().equals(status);
        Condition condition = Condition.of(
                Condition.READY,
                status,
                ready ? "KubeletReady" : "KubeletNotReady",
                ready ? "kubelet is posting ready status" : aggregate(errors),
                inputs.now(),
                same ? stored.get().lastTransitionTime().orElse(inputs.now()) : inputs.now());
        if (stored.isPresent() && !same) {
            events.add(NodeEvent.status(inputs.config().nodeName(), ready ? "NodeReady" : "NodeNotReady"));
        }
        return with(node, condition);
    }

    /** Sets one of the agent's own conditions. */
    static Node report(Node node, ConditionReport report, StatusInputs inputs) {
        Optional<Condition> stored = node.condition(report.type());
        boolean same = stored.map(Condition::status).equals(Optional.of(report.status()));
        return with(
                node,
                Condition.of(
                        report.type(),
                        report.status(),
                        report.reason(),
                        report.message(),
                        inputs.now(),
                        same ? stored.flatMap(Condition::lastTransitionTime).orElse(inputs.now()) : inputs.now()));
    }

    /** Several errors as one text: repeated ones once, brackets only around more than one. */
    static String aggregate(List<String> errors) {
        List<String> distinct = List.copyOf(new LinkedHashSet<>(errors));
        return distinct.size() == 1 ? distinct.getFirst() : "[" + String.join(", ", distinct) + "]";
    }

    private static Optional<String> missingCapacity(Node node, AgentConfig config) {
        JsonObject capacity = node.status().object("capacity");
        List<String> required = new ArrayList<>(List.of("cpu", "memory", "pods"));
        if (config.localStorageCapacityIsolation()) {
            required.add("ephemeral-storage");
        }
        List<String> missing =
                required.stream().filter(key -> !capacity.has(key)).toList();
        return missing.isEmpty()
                ? Optional.empty()
                : Optional.of("missing node capacity for resources: " + String.join(", ", missing));
    }

    private static Node with(Node node, Condition condition) {
        List<Condition> conditions = new ArrayList<>(node.conditions());
        for (int i = 0; i < conditions.size(); i++) {
            if (conditions.get(i).type().equals(condition.type())) {
                conditions.set(i, condition);
                return node.withConditions(conditions);
            }
        }
        conditions.add(condition);
        return node.withConditions(conditions);
    }
}
