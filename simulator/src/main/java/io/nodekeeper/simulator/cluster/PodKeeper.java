package io.nodekeeper.simulator.cluster;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * The minimal part of a kubelet that pods need: a pod that is bound to the node runs and is
 * Ready, and one that is marked deleted ends immediately. Confined to the loop.
 */
final class PodKeeper implements Reflector.Handler {
    /**
     * The pause before a failed call is repeated: pods end within a second after an outage, and a failing server gets
     * few calls.
     */
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final KubeClient client;
    private final Loop loop;
    private final Reflector pods;

    PodKeeper(KubeClient client, String node, RandomGenerator random) {
        this.client = client;
        this.loop = client.loop();
        this.pods =
                new Reflector(client, new Selection(ResourceType.PODS, "", "", "spec.nodeName=" + node), random, this);
    }

    void start() {
        pods.start();
    }

    @Override
    public void onReplace(List<JsonObject> objects) {
        objects.forEach(this::keep);
    }

    @Override
    public void onChange(JsonObject object) {
        keep(object);
    }

    @Override
    public void onDelete(JsonObject object) {}

    private void keep(JsonObject pod) {
        JsonObject metadata = pod.object("metadata");
        CompletableFuture<JsonObject> call;
        if (metadata.has("deletionTimestamp")) {
            call = client.delete(
                    ResourceType.PODS, metadata.text("namespace"), metadata.text("name"), now(metadata.text("uid")));
        } else if (!isReady(pod)) {
            call = client.patch(
                    ResourceType.PODS,
                    metadata.text("namespace"),
                    metadata.text("name"),
                    "status",
                    PatchType.STRATEGIC,
                    running(metadata.text("uid")));
        } else {
            return;
        }
        call.exceptionally(error -> {
            // The pod is gone or was replaced: the watch reports it.
            if (!Failures.isCode(error, 404) && !Failures.isCode(error, 409)) {
                loop.schedule(RETRY, () -> keep(pod));
            }
            return JsonObject.EMPTY;
        });
    }

    /** Whether the pod's Ready condition is True. */
    static boolean isReady(JsonObject pod) {
        return pod.object("status")
                .array("conditions")
                .objects()
                .anyMatch(condition -> condition.text("type").equals(Condition.READY)
                        && condition.text("status").equals(Condition.TRUE));
    }

    private static JsonObject now(String uid) {
        return JsonObject.builder()
                .put("gracePeriodSeconds", 0)
                .put("preconditions", JsonObject.EMPTY.with("uid", uid))
                .build();
    }

    private JsonObject running(String uid) {
        JsonObject ready = JsonObject.builder()
                .put("type", Condition.READY)
                .put("status", Condition.TRUE)
                .put("lastTransitionTime", KubeTime.format(loop.clock().wallTime()))
                .build();
        return JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("uid", uid))
                .put(
                        "status",
                        JsonObject.builder()
                                .put("phase", "Running")
                                .put("conditions", JsonArray.of(ready))
                                .build())
                .build();
    }
}
