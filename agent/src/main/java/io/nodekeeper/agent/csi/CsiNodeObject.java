package io.nodekeeper.agent.csi;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.plugin.PluginCall;
import java.util.ArrayList;
import java.util.List;

/** Decides the content of a node's CSINode, as a kubelet does. Pure. */
final class CsiNodeObject {
    private CsiNodeObject() {}

    /** A CSINode without drivers, which ends with the Node {@code node} that has {@code uid}. */
    static JsonObject first(String node, String uid) {
        JsonObject owner = JsonObject.builder()
                .put("apiVersion", "v1")
                .put("kind", "Node")
                .put("name", node)
                .put("uid", uid)
                .build();
        return JsonObject.builder()
                .put("kind", "CSINode")
                .put("apiVersion", "storage.k8s.io/v1")
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", node)
                                .put("ownerReferences", JsonArray.of(owner))
                                .build())
                .put("spec", JsonObject.EMPTY.with("drivers", JsonArray.EMPTY))
                .build();
    }

    /**
     * {@code csiNode} as that of the Node with {@code uid}, if it was that of a Node with another one: such a Node is gone, and the garbage
     * collector would delete the CSINode, too.
     */
    static JsonObject ownedBy(JsonObject csiNode, String uid) {
        JsonArray owners = csiNode.object("metadata").array("ownerReferences");
        if (uid.isEmpty() || owners.objects().noneMatch(owner -> isOther(owner, uid))) {
            return csiNode;
        }
        List<JsonValue> changed = owners.objects()
                .<JsonValue>map(owner -> isOther(owner, uid) ? owner.with("uid", uid) : owner)
                .toList();
        return csiNode.update("metadata", metadata -> metadata.with("ownerReferences", new JsonArray(changed)));
    }

    private static boolean isOther(JsonObject owner, String uid) {
        return owner.text("kind").equals("Node") && !owner.text("uid").equals(uid);
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
