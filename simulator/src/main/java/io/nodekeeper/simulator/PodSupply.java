package io.nodekeeper.simulator;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.simulator.cluster.SimCluster;
import java.time.Duration;
import java.util.List;

/**
 * Keeps one pod on each of the first nodes, with different tolerations of a node that is not ready; a deleted pod is
 * created again. Confined to virtual time.
 */
final class PodSupply {
    /** How long pods tolerate that their node is not ready, in turn: from not at all to longer than many outages. */
    private static final List<Integer> SECONDS = List.of(0, 5, 30, 60);

    private static final Duration PERIOD = Duration.ofMinutes(1);

    private final SimCluster cluster;
    private final RandomRunOptions options;
    private final KubeClient admin;

    PodSupply(SimCluster cluster, RandomRunOptions options, KubeClient admin) {
        this.cluster = cluster;
        this.options = options;
        this.admin = admin;
    }

    /** Creates missing pods, first after a minute and then every minute. */
    void next() {
        cluster.later(PERIOD, () -> {
            for (int number = 0; number < options.pods(); number++) {
                // A pod that exists already is refused.
                admin.create(ResourceType.PODS, "default", pod(number, "n" + number % options.nodes()));
            }
            next();
        });
    }

    private static JsonObject pod(int number, String node) {
        int seconds = SECONDS.get(number % SECONDS.size());
        List<JsonValue> tolerations =
                List.of(toleration(Taint.NOT_READY, seconds), toleration(Taint.UNREACHABLE, seconds));
        return JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("name", "p" + number))
                .put(
                        "spec",
                        JsonObject.builder()
                                .put("nodeName", node)
                                .put(
                                        "containers",
                                        JsonArray.of(JsonObject.EMPTY
                                                .with("name", "main")
                                                .with("image", "example.com/main:1")))
                                .put("tolerations", new JsonArray(tolerations))
                                .build())
                .build();
    }

    private static JsonObject toleration(String key, int seconds) {
        return JsonObject.builder()
                .put("key", key)
                .put("operator", "Exists")
                .put("effect", Taint.NO_EXECUTE)
                .put("tolerationSeconds", seconds)
                .build();
    }
}
