package io.nodekeeper.agent.csi;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.plugin.PluginCall;
import java.util.Map;
import java.util.TreeMap;

/** Decides what the Node shows of CSI drivers: their ids of the node, and where it is. Pure. */
final class NodeIds {
    /** Kubernetes' annotation: a JSON object with the id of the node by the name of each driver. */
    static final String ANNOTATION = "csi.volume.kubernetes.io/nodeid";

    private NodeIds() {}

    /**
     * The patch that adds a driver; empty if nothing changes.
     *
     * @throws IllegalStateException if a label has another value already
     */
    static JsonObject adding(Node node, String driver, PluginCall.NodeInfo info) {
        Map<String, String> ids = ids(node);
        ids.put(driver, info.nodeId());
        JsonObject.Builder labels = JsonObject.builder();
        boolean more = false;
        for (Map.Entry<String, String> label : new TreeMap<>(info.topology()).entrySet()) {
            String existing = node.labels().get(label.getKey());
            if (existing != null && !existing.equals(label.getValue())) {
                throw new IllegalStateException("detected topology value collision: driver reported \"" + label.getKey()
                        + "\":\"" + label.getValue() + "\" but existing label is \"" + label.getKey() + "\":\""
                        + existing + "\"");
            }
            if (existing == null) {
                labels.put(label.getKey(), label.getValue());
                more = true;
            }
        }
        JsonObject metadata = annotation(node, ids);
        return patch(more ? metadata.with("labels", labels.build()) : metadata);
    }

    /** The patch that removes a driver; empty if nothing changes. Labels stay, as in Kubernetes. */
    static JsonObject removing(Node node, String driver) {
        Map<String, String> ids = ids(node);
        return ids.remove(driver) == null ? JsonObject.EMPTY : patch(annotation(node, ids));
    }

    private static JsonObject patch(JsonObject metadata) {
        return metadata.isEmpty() ? metadata : JsonObject.EMPTY.with("metadata", metadata);
    }

    private static JsonObject annotation(Node node, Map<String, String> ids) {
        if (ids.equals(ids(node))) {
            return JsonObject.EMPTY;
        }
        JsonObject.Builder annotation = JsonObject.builder();
        if (ids.isEmpty()) {
            annotation.put(ANNOTATION, JsonNull.NULL);
        } else {
            annotation.put(ANNOTATION, Json.write(JsonObject.ofStrings(ids)));
        }
        return JsonObject.EMPTY.with("annotations", annotation.build());
    }

    /** What is not JSON counts as empty: nothing else writes it. */
    private static Map<String, String> ids(Node node) {
        String text = node.metadata().object("annotations").text(ANNOTATION);
        try {
            return new TreeMap<>(
                    text.isEmpty() ? Map.of() : Json.parseObject(text).texts());
        } catch (RuntimeException e) {
            return new TreeMap<>();
        }
    }
}
