package io.nodekeeper.controller.pods;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
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
 * Writes to pods. Every write has the UID as precondition, so that it cannot affect another pod of that name; writes in
 * the reference's form have none. Thread-safe.
 */
final class PodWrites {
    /** The type of the condition with the reason of a pod's deletion. */
    static final String DISRUPTION_TARGET = "DisruptionTarget";
    /** Its reason if a taint was the cause. */
    static final String BY_TAINT_MANAGER = "DeletionByTaintManager";

    private static final Logger log = LoggerFactory.getLogger(PodWrites.class);

    private final KubeClient client;
    /** Answers with the {@link PodParts} of pods. */
    private final KubeClient brief;

    PodWrites(KubeClient client) {
        this.client = client;
        this.brief = client.keeping(PodParts::of);
    }

    /** Sets Ready to False if the pod has not changed; the rest of the condition stays. The result is the pod. */
    CompletableFuture<JsonObject> markNotReady(TrackedPod pod) {
        JsonObject metadata = JsonObject.EMPTY.with("uid", pod.uid).with("resourceVersion", pod.version);
        JsonObject condition = JsonObject.EMPTY
                .with("type", Condition.READY)
                .with("status", Condition.FALSE)
                .with("lastTransitionTime", wallTime());
        return patch(pod, metadata, JsonObject.EMPTY.with("conditions", JsonArray.of(condition)));
    }

    /**
     * The same with a PUT, as the reference does. The reference writes the whole pod from its cache; here the pod is
     * read first, so conflicts are rarer. The result is false if there was nothing to do.
     */
    CompletableFuture<Boolean> markNotReadyAsReference(TrackedPod pod) {
        return read(pod, client).thenCompose(json -> {
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

    /**
     * Sets the condition that taints cause the pod's deletion, unless {@code live} has it. False if the pod was
     * deleted.
     */
    CompletableFuture<Boolean> disrupt(TrackedPod pod, JsonObject live) {
        if (isDisrupted(live)) {
            return CompletableFuture.completedFuture(true);
        }
        JsonObject status = JsonObject.EMPTY.with("conditions", JsonArray.of(byTaintManager()));
        return setStatus(pod, JsonObject.EMPTY.with("uid", pod.uid), status, live)
                .thenApply(Optional::isPresent);
    }

    /** Deletes the pod with its own grace period. The result is false if it did not exist. */
    CompletableFuture<Boolean> delete(TrackedPod pod) {
        return delete(pod, JsonObject.EMPTY.with("uid", pod.uid), JsonObject.builder());
    }

    private static boolean isDisrupted(JsonObject pod) {
        return condition(pod, DISRUPTION_TARGET)
                .filter(disrupted -> disrupted.status().equals(Condition.TRUE)
                        && disrupted.reason().equals(BY_TAINT_MANAGER))
                .isPresent();
    }

    /** Evicts as the reference does: deletes any pod of that name, and fails if there is none. */
    CompletableFuture<Boolean> evictAsReference(TrackedPod pod) {
        return read(pod)
                .thenCompose(json -> {
                    if (isDisrupted(json)) {
                        return CompletableFuture.completedFuture(json);
                    }
                    JsonObject uid =
                            JsonObject.EMPTY.with("uid", json.object("metadata").text("uid"));
                    return patch(pod, uid, JsonObject.EMPTY.with("conditions", JsonArray.of(byTaintManager())));
                })
                .thenCompose(patched -> brief.delete(ResourceType.PODS, pod.namespace, pod.name, JsonObject.EMPTY))
                .thenApply(deleted -> true);
    }

    /** Reads the {@link PodParts} of the pod from the API; empty if it was deleted, or another pod has its name. */
    CompletableFuture<Optional<JsonObject>> live(TrackedPod pod) {
        return live(pod, brief);
    }

    /** As {@link #live(TrackedPod)}, with all of its tolerations that matter for {@code taints}. */
    CompletableFuture<Optional<JsonObject>> live(TrackedPod pod, List<ActiveTaint> taints) {
        return live(pod, client.keeping(json -> PodParts.of(json, taints)));
    }

    private static CompletableFuture<Optional<JsonObject>> live(TrackedPod pod, KubeClient reader) {
        return read(pod, reader).handle((json, error) -> {
            if (error == null) {
                return Optional.of(json)
                        .filter(seen -> seen.object("metadata").text("uid").equals(pod.uid));
            }
            if (Failures.isCode(error, 404)) {
                return Optional.empty();
            }
            throw new CompletionException(Failures.cause(error));
        });
    }

    /**
     * Deletes the pod without a grace period; first sets its phase to Failed, unless it has finished. If {@code live}
     * is not empty, the pod is deleted only if it has not changed since: a kubelet that has written meanwhile is alive.
     *
     * @param live the pod that was just read, or {@link JsonObject#EMPTY}
     * @param why the DisruptionTarget condition to set; none if absent
     */
    CompletableFuture<Boolean> forceDelete(TrackedPod pod, JsonObject live, Optional<JsonObject> why) {
        JsonObject.Builder status = JsonObject.builder().put("phase", "Failed");
        why.ifPresent(condition -> status.put("conditions", JsonArray.of(condition)));
        JsonObject metadata = precondition(pod, live);
        boolean finished = live.isEmpty() ? pod.finished : PodParts.isFinished(live);
        CompletableFuture<Optional<JsonObject>> patched = finished
                ? CompletableFuture.completedFuture(Optional.of(live))
                : setStatus(pod, metadata, status.build(), live);
        return patched.thenCompose(last -> last.isPresent()
                ? delete(
                        pod,
                        precondition(pod, live.isEmpty() ? live : last.get()),
                        JsonObject.builder().put("gracePeriodSeconds", 0))
                : CompletableFuture.completedFuture(false));
    }

    private static JsonObject precondition(TrackedPod pod, JsonObject live) {
        String version = live.object("metadata").text("resourceVersion");
        JsonObject uid = JsonObject.EMPTY.with("uid", pod.uid);
        return version.isEmpty() ? uid : uid.with("resourceVersion", version);
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

    /**
     * Patches the status. The result is the patched pod, or empty if it was deleted. If the server refuses the status
     * permanently, the deletion continues: the result is {@code before}.
     */
    private CompletableFuture<Optional<JsonObject>> setStatus(
            TrackedPod pod, JsonObject metadata, JsonObject status, JsonObject before) {
        return patch(pod, metadata, status)
                .thenApply(Optional::of)
                .exceptionallyCompose(error -> goneOr(pod, error).thenApply(gone -> Optional.empty()))
                .exceptionally(error -> {
                    if (Failures.cause(error) instanceof ApiException refused
                            && (refused.code() == 403 || refused.code() == 422)) {
                        log.warn(
                                "Pod {}: writing its status before its deletion failed: {}", pod, refused.getMessage());
                        return Optional.of(before);
                    }
                    throw new CompletionException(Failures.cause(error));
                });
    }

    private CompletableFuture<Boolean> delete(TrackedPod pod, JsonObject preconditions, JsonObject.Builder options) {
        JsonObject body = options.put("preconditions", preconditions).build();
        return brief.delete(ResourceType.PODS, pod.namespace, pod.name, body)
                .thenApply(deleted -> true)
                .exceptionallyCompose(error -> goneOr(pod, error));
    }

    /** False if {@code error} means that the pod was deleted; may read the pod that has its name now. */
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
        return read(pod, brief);
    }

    private static CompletableFuture<JsonObject> read(TrackedPod pod, KubeClient reader) {
        return reader.get(ResourceType.PODS, pod.namespace, pod.name);
    }

    private CompletableFuture<JsonObject> patch(TrackedPod pod, JsonObject metadata, JsonObject status) {
        JsonObject patch = JsonObject.EMPTY.with("metadata", metadata).with("status", status);
        return brief.patch(ResourceType.PODS, pod.namespace, pod.name, "status", PatchType.STRATEGIC, patch);
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
