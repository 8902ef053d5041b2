package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;

/** What is known of a pod. Confined to virtual time. */
final class PodFacts {
    final String name;
    final String node;
    final List<Toleration> tolerations;
    final long createdAt;
    /** Whether its deletion has begun, or it is gone. */
    boolean ended;

    /** Changes whenever something about its node does, so that older checks lapse. */
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
