package io.nodekeeper.apiserver.usage;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.util.HashMap;
import java.util.Map;

/**
 * The part of a node's {@code /stats/summary} that is about processor time and memory. Immutable.
 *
 * @param pods its pods by UID; a static pod has the UID of its mirror, if the node says so
 */
record NodeSummary(Reading node, Map<String, Map<String, Reading>> pods) {
    /** More than a node runs. */
    private static final int PODS = 2_000;

    private static final int CONTAINERS = 200;

    /**
     * Reads it.
     *
     * @throws io.nodekeeper.api.json.JsonException if it is not an object in JSON
     */
    static NodeSummary parse(byte[] body) {
        JsonObject summary = Json.parseObject(body);
        Map<String, Map<String, Reading>> pods = new HashMap<>();
        summary.array("pods").objects().limit(PODS).forEach(pod -> {
            Map<String, Reading> containers = new HashMap<>();
            pod.array("containers")
                    .objects()
                    .limit(CONTAINERS)
                    .forEach(container -> containers.put(container.text("name"), Reading.of(container)));
            pods.put(pod.object("podRef").text("uid"), Map.copyOf(containers));
        });
        return new NodeSummary(Reading.of(summary.object("node")), Map.copyOf(pods));
    }
}
