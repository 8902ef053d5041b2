package io.nodekeeper.agent.registration;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.status.StatusInputs;
import io.nodekeeper.agent.status.StatusResult;
import io.nodekeeper.agent.status.StatusSetters;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Builds the Node object that the agent creates at registration, with its complete status. Stateless. */
public final class InitialNode {
    /** Annotation: whether the control plane attaches and detaches volumes. */
    static final String ATTACH_DETACH = "volumes.kubernetes.io/controller-managed-attach-detach";

    private static final Taint UNINITIALIZED = new Taint(JsonObject.builder()
            .put("key", "node.cloudprovider.kubernetes.io/uninitialized")
            .put("value", "true")
            .put("effect", Taint.NO_SCHEDULE)
            .build());

    private InitialNode() {}

    /** The Node to create. */
    public static StatusResult build(StatusInputs inputs) {
        AgentConfig config = inputs.config();
        JsonObject.Builder metadata = JsonObject.builder().put("name", config.nodeName());
        metadata.put("labels", JsonObject.ofStrings(labels(inputs)));
        if (config.enableControllerAttachDetach()) {
            metadata.put("annotations", JsonObject.EMPTY.with(ATTACH_DETACH, "true"));
        }
        JsonObject node = JsonObject.builder()
                .put("kind", "Node")
                .put("apiVersion", "v1")
                .put("metadata", metadata.build())
                .put("spec", spec(config))
                .build();
        return StatusSetters.apply(new Node(node), inputs);
    }

    private static Map<String, String> labels(StatusInputs inputs) {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put("kubernetes.io/hostname", inputs.config().nodeName());
        inputs.facts()
                .machine()
                .value()
                .ifPresent(info -> StatusSetters.platform(info).forEach((label, value) -> {
                    labels.put(label, value);
                    labels.put("beta." + label, value);
                }));
        labels.putAll(inputs.config().nodeLabels());
        return labels;
    }

    private static JsonObject spec(AgentConfig config) {
        List<JsonValue> taints = new ArrayList<>();
        config.registerWithTaints().forEach(taint -> taints.add(taint.json()));
        if (config.externalCloudProvider()) {
            taints.add(UNINITIALIZED.json());
        }
        JsonObject.Builder spec = JsonObject.builder().putUnlessEmpty("providerID", config.providerId());
        if (!taints.isEmpty()) {
            spec.put("taints", new JsonArray(taints));
        }
        return spec.build();
    }
}
