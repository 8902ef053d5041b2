package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;

/** The facts about a pod. Confined to virtual time. */
final class PodFacts {
    final String name;
    final String node;
    final List<Toleration> tolerations;
    final long createdAt;
    /** Whether its deletion has begun, or it is gone. */
    boolean ended;

    /** Changes with every change of its node, so that older checks expire. */
    long review;

    PodFacts(JsonObject pod, long createdAt) {
        this.name = pod.object("metadata").text("name");
        this.createdAt = createdAt;
        this.node = pod.object("spec").text("nodeName");
        this.tolerations = pod.object("spec")
                .array("tolerations")
                .objects()
                .map(Toleration::of)
                .toList();
    }
}
