package io.nodekeeper.simulator.replay;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;

/**
 * The parts of a Node that a recording has: name, UID, labels, which say its zone, and conditions. A recording has no
 * annotations, addresses or taints: taints are what the replayed controller sets itself.
 */
public final class RecordedNode {
    private RecordedNode() {}

    /** Those parts of {@code node}. */
    public static JsonObject of(Node node) {
        return JsonObject.EMPTY
                .with(
                        "metadata",
                        JsonObject.EMPTY
                                .with("name", node.name())
                                .with("uid", node.uid())
                                .with("labels", node.metadata().object("labels")))
                .with(
                        "status",
                        JsonObject.EMPTY.with("conditions", node.status().array("conditions")));
    }
}
