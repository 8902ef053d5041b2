package io.nodekeeper.controller.pods;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonValue;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is written to pods. Every write names the UID, so that no other pod of the name is met; writes of the reference's
 * kind do not. Thread-safe.
 */
final class PodWrites {
    /** The type of the condition that says why a pod was deleted. */
    static final String DISRUPTION_TARGET = "DisruptionTarget";
    /** Its reason if a taint was the cause. */
    static final String BY_TAINT_MANAGER = "DeletionByTaintManager";

    private static final Logger log = LoggerFactory.getLogger(PodWrites.class);

    private final KubeClient client;

    PodWrites(KubeClient client) {
        this.client = client;
    }

    /** Sets Ready to False if the pod is still as it was seen; all else of the condition stays. The result is the pod. */
    CompletableFuture<JsonObject> markNotReady(TrackedPod pod) {
        JsonObject metadata = JsonObject.EMPTY.with("uid", pod.uid).with("resourceVersion", pod.version);
        JsonObject condition = JsonObject.EMPTY
                .with("type", Condition.READY)
                .with("status", Condition.FALSE)
                .with("lastTransitionTime", wallTime());
        return patch(pod, metadata, JsonObject.EMPTY.with("conditions", JsonArray.of(condition)));
    }

    /**
     * The same as the reference does it, with a PUT. It holds whole pods and writes the one in its cache; here the pod is
     * read first, so a conflict is rarer. The result is false if there was nothing to do.
     */
    CompletableFuture<Boolean> markNotReadyAsReference(TrackedPod pod) {
        return read(pod).thenCompose(json -> {
            Optional<Condition> ready = condition(json, Condition.READY);
            if (ready.isEmpty() || ready.get().status().equals(Condition.FALSE)) {
                return CompletableFuture.completedFuture(false);
            }
            JsonObject marked =
                    ready.get().json().with("status", Condition.FALSE).with("lastTransitionTime", wallTime());
            List<JsonValue> conditions = new ArrayList<>();
            json.object("status")
                    .array("conditions")
                    .objects()
                    .forEach(old -> conditions.add(old.text("type").equals(Condition.READY) ? marked : old));
            JsonObject next = json.update("status", status -> status.with("conditions", new JsonArray(conditions)));
            return client.updateStatus(ResourceType.PODS, pod.namespace, pod.name, next)
                    .thenApply(written -> true);
        });
    }

    /** Tells the pod that taints are its end. The result is false if the pod is gone. */
    CompletableFuture<Boolean> disrupt(TrackedPod pod) {
        JsonObject status = JsonObject.EMPTY.with("conditions", JsonArray.of(byTaintManager()));
        return tell(pod, status);
    }

    /** Deletes the pod with its own grace. The result is false if it was gone. */
    CompletableFuture<Boolean> delete(TrackedPod pod) {
        return delete(pod, JsonObject.builder());
    }

    /** The reference's way to evict: any pod of that name, and its absence is a failure. */
    CompletableFuture<Boolean> evictAsReference(TrackedPod pod) {
        return read(pod)
                .thenCompose(json -> {
                    Optional<Condition> told = condition(json, DISRUPTION_TARGET);
                    if (told.isPresent()
                            && told.get().status().equals(Condition.TRUE)
                            && told.get().reason().equals(BY_TAINT_MANAGER)) {
                        return CompletableFuture.completedFuture(json);
                    }
                    JsonObject uid =
                            JsonObject.EMPTY.with("uid", json.object("metadata").text("uid"));
                    return patch(pod, uid, JsonObject.EMPTY.with("conditions", JsonArray.of(byTaintManager())));
                })
                .thenCompose(told -> client.delete(ResourceType.PODS, pod.namespace, pod.name, JsonObject.EMPTY))
                .thenApply(deleted -> true);
    }

    /**
     * Deletes the pod at once, and says before that it failed unless it ran to its end.
     *
     * @param why the DisruptionTarget condition to set; none if absent
     */
    CompletableFuture<Boolean> forceDelete(TrackedPod pod, Optional<JsonObject> why) {
        JsonObject.Builder status = JsonObject.builder().put("phase", "Failed");
        why.ifPresent(condition -> status.put("conditions", JsonArray.of(condition)));
        CompletableFuture<Boolean> told =
                pod.finished ? CompletableFuture.completedFuture(true) : tell(pod, status.build());
        return told.thenCompose(there -> there
                ? delete(pod, JsonObject.builder().put("gracePeriodSeconds", 0))
                : CompletableFuture.completedFuture(false));
    }

    /** A DisruptionTarget condition that begins now. */
    JsonObject disruption(String reason, String message) {
        return JsonObject.builder()
                .put("type", DISRUPTION_TARGET)
                .put("status", Condition.TRUE)
                .put("reason", reason)
                .put("message", message)
                .put("lastTransitionTime", wallTime())
                .build();
    }

    private JsonObject byTaintManager() {
        return disruption(BY_TAINT_MANAGER, "Taint manager: deleting due to NoExecute taint");
    }

    /** Patches the status; what the server refuses for good is not worth keeping a pod for. False if the pod is gone. */
    private CompletableFuture<Boolean> tell(TrackedPod pod, JsonObject status) {
        return patch(pod, JsonObject.EMPTY.with("uid", pod.uid), status)
                .thenApply(patched -> true)
                .exceptionallyCompose(error -> goneOr(pod, error))
                .exceptionally(error -> {
                    if (Failures.cause(error) instanceof ApiException refused
                            && (refused.code() == 403 || refused.code() == 422)) {
                        log.warn("Pod {}: status not written before its deletion: {}", pod, refused.getMessage());
                        return true;
                    }
                    throw new CompletionException(Failures.cause(error));
                });
    }

    private CompletableFuture<Boolean> delete(TrackedPod pod, JsonObject.Builder options) {
        JsonObject body = options.put("preconditions", JsonObject.EMPTY.with("uid", pod.uid))
                .build();
        return client.delete(ResourceType.PODS, pod.namespace, pod.name, body)
                .thenApply(deleted -> true)
                .exceptionallyCompose(error -> goneOr(pod, error));
    }

    /** False if {@code error} means that the pod is gone, which may take a look at the one that bears its name now. */
    private CompletableFuture<Boolean> goneOr(TrackedPod pod, Throwable error) {
        if (Failures.isCode(error, 404)) {
            return CompletableFuture.completedFuture(false);
        }
        if (!Failures.isCode(error, 409) && !Failures.isCode(error, 422)) {
            return CompletableFuture.failedFuture(error);
        }
        return read(pod).handle((json, unread) -> {
            boolean gone = unread == null
                    ? !json.object("metadata").text("uid").equals(pod.uid)
                    : Failures.isCode(unread, 404);
            if (gone) {
                return false;
            }
            throw new CompletionException(Failures.cause(error));
        });
    }

    private CompletableFuture<JsonObject> read(TrackedPod pod) {
        return client.get(ResourceType.PODS, pod.namespace, pod.name);
    }

    private CompletableFuture<JsonObject> patch(TrackedPod pod, JsonObject metadata, JsonObject status) {
        JsonObject patch = JsonObject.EMPTY.with("metadata", metadata).with("status", status);
        return client.patch(ResourceType.PODS, pod.namespace, pod.name, "status", PatchType.STRATEGIC, patch);
    }

    private static Optional<Condition> condition(JsonObject pod, String type) {
        return pod.object("status")
                .array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals(type))
                .findFirst()
                .map(Condition::new);
    }

    private String wallTime() {
        return KubeTime.format(client.loop().clock().wallTime());
    }
}
