package io.nodekeeper.agent.csi;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.plugin.PluginCall;
import java.util.ArrayList;
import java.util.List;

/** Decides the content of a node's CSINode, as a kubelet does. Pure. */
final class CsiNodeObject {
    private CsiNodeObject() {}

    /** A CSINode without drivers, which ends with {@code node}. */
    static JsonObject first(Node node) {
        JsonObject owner = JsonObject.builder()
                .put("apiVersion", "v1")
                .put("kind", "Node")
                .put("name", node.name())
                .put("uid", node.metadata().text("uid"))
                .build();
        return JsonObject.builder()
                .put("kind", "CSINode")
                .put("apiVersion", "storage.k8s.io/v1")
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", node.name())
                                .put("ownerReferences", JsonArray.of(owner))
                                .build())
                .put("spec", JsonObject.EMPTY.with("drivers", JsonArray.EMPTY))
                .build();
    }

    /** {@code csiNode} with the driver {@code name}, in place of an earlier entry. */
    static JsonObject with(JsonObject csiNode, String name, PluginCall.NodeInfo info) {
        JsonObject.Builder driver = JsonObject.builder().put("name", name).put("nodeID", info.nodeId());
        driver.put(
                "topologyKeys",
                JsonArray.ofStrings(info.topology().keySet().stream().sorted().toList()));
        if (info.mostVolumes() > 0) {
            driver.put(
                    "allocatable",
                    JsonObject.builder()
                            .put("count", Math.min(info.mostVolumes(), Integer.MAX_VALUE))
                            .build());
        }
        List<JsonValue> drivers = others(csiNode, name);
        drivers.add(driver.build());
        return csiNode.update("spec", spec -> spec.with("drivers", new JsonArray(drivers)));
    }

    /** {@code csiNode} without that driver. */
    static JsonObject without(JsonObject csiNode, String name) {
        return csiNode.update("spec", spec -> spec.with("drivers", new JsonArray(others(csiNode, name))));
    }

    private static List<JsonValue> others(JsonObject csiNode, String name) {
        List<JsonValue> others = new ArrayList<>();
        csiNode.object("spec")
                .array("drivers")
                .objects()
                .filter(driver -> !driver.text("name").equals(name))
                .forEach(others::add);
        return others;
    }
}
