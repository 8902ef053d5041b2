package io.nodekeeper.agent.status;

import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.MachineInfo;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.events.EventRecorder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Computes a node's status from facts, one part after another in Kubernetes' order. Each part may fail by itself.
 * Stateless.
 */
public final class StatusSetters {
    private StatusSetters() {}

    /** {@code node} with the status computed from {@code inputs}; fields that others wrote stay. */
    public static StatusResult apply(Node node, StatusInputs inputs) {
        List<NodeEvent> events = new ArrayList<>();
        List<String> errors = new ArrayList<>();
        Node result = AddressSetter.set(platformLabels(node, inputs), inputs, errors);
        rebooted(result, inputs).ifPresent(events::add);
        result = MachineSetter.set(result, inputs);
        result = RuntimeSetter.set(endpoints(versions(result, inputs, errors), inputs), inputs, errors);
        for (Pressure pressure : Pressure.values()) {
            result = ConditionSetters.pressure(result, pressure, inputs, events);
        }
        for (ConditionReport report : inputs.conditions()) {
            result = ConditionSetters.report(result, report, inputs);
        }
        result = ConditionSetters.ready(result, inputs, events);
        if (node.unschedulable() != inputs.knownUnschedulable()) {
            events.add(NodeEvent.status(
                    inputs.config().nodeName(), node.unschedulable() ? "NodeNotSchedulable" : "NodeSchedulable"));
        }
        return new StatusResult(result, events, errors);
    }

    /** The labels that the agent sets on every node and restores when they change. */
    public static Map<String, String> platform(MachineInfo info) {
        return Map.of("kubernetes.io/os", "linux", "kubernetes.io/arch", info.architecture());
    }

    private static Node platformLabels(Node node, StatusInputs inputs) {
        JsonObject json = node.json();
        Optional<MachineInfo> machine = inputs.facts().machine().value();
        if (machine.isPresent()) {
            for (var label : platform(machine.get()).entrySet()) {
                if (!label.getValue().equals(node.labels().get(label.getKey()))) {
                    json = json.update(
                            "metadata",
                            metadata ->
                                    metadata.update("labels", labels -> labels.with(label.getKey(), label.getValue())));
                }
            }
        }
        return new Node(json);
    }

    private static Optional<NodeEvent> rebooted(Node node, StatusInputs inputs) {
        String stored = node.status().object("nodeInfo").text("bootID");
        String name = inputs.config().nodeName();
        return inputs.facts()
                .machine()
                .value()
                .filter(info -> !stored.isEmpty() && !stored.equals(info.bootId()))
                .map(info -> new NodeEvent(
                        EventRecorder.WARNING,
                        "Rebooted",
                        "Node " + name + " has been rebooted, boot id: " + info.bootId()));
    }

    /** The kubelet's port, as clients of the kubelet API expect it. */
    private static Node endpoints(Node node, StatusInputs inputs) {
        long port = inputs.config().serving().kubeletPort();
        return new Node(node.json()
                .update(
                        "status",
                        status -> status.update(
                                "daemonEndpoints",
                                endpoints -> endpoints.with(
                                        "kubeletEndpoint",
                                        JsonObject.builder().put("Port", port).build()))));
    }

    private static Node versions(Node node, StatusInputs inputs, List<String> errors) {
        Fact<MachineInfo> machine = inputs.facts().machine();
        if (machine.value().isEmpty()) {
            errors.add("error getting version info: " + machine.error());
            return node;
        }
        MachineInfo info = machine.value().get();
        return new Node(node.json()
                .update(
                        "status",
                        status -> status.update(
                                "nodeInfo",
                                nodeInfo -> nodeInfo.toBuilder()
                                        .put("kernelVersion", info.kernelVersion())
                                        .put("osImage", info.osImage())
                                        .put(
                                                "containerRuntimeVersion",
                                                inputs.runtime().version())
                                        .put("kubeletVersion", inputs.version())
                                        .put("kubeProxyVersion", "")
                                        .put("operatingSystem", "linux")
                                        .put("architecture", info.architecture())
                                        .build())));
    }
}
