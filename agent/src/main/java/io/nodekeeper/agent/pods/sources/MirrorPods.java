package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.time.Backoff;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a copy of each static pod in the API, so that others can see it. The copy has the pod's hash in the annotation
 * {@code kubernetes.io/config.mirror} and the Node as its owner. One with another hash, or one that another client deleted, is
 * removed and created again; one without a static pod is removed. Confined to its client's loop.
 */
final class MirrorPods {
    private static final Logger log = LoggerFactory.getLogger(MirrorPods.class);
    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));

    private final KubeClient client;
    private final Supplier<Optional<Node>> node;
    /** By full name: those whose last call runs or failed. */
    private final Map<String, Attempt> attempts = new HashMap<>();

    /** A call for a copy: whether it runs, and when the next one may begin. */
    private record Attempt(boolean running, int failures, long nextAt) {}

    /** Copies that belong to {@code node}, once the API has it. */
    MirrorPods(KubeClient client, Supplier<Optional<Node>> node) {
        this.client = client;
        this.node = node;
    }

    /**
     * Brings the API to what is wanted.
     *
     * @param wanted the static pods; only if they are all known, copies without a pod are removed
     * @param found the copies that the API has
     */
    void tick(Iterable<Pod> wanted, boolean complete, Iterable<Pod> found) {
        Map<String, Pod> copies = new LinkedHashMap<>();
        found.forEach(copy -> copies.put(copy.fullName(), copy));
        Set<String> due = new HashSet<>();
        for (Pod pod : wanted) {
            Pod copy = copies.remove(pod.fullName());
            if (copy == null) {
                due.add(pod.fullName());
                ownedBy()
                        .ifPresent(owner -> attempt(
                                pod,
                                "created",
                                () -> client.create(ResourceType.PODS, pod.namespace(), copy(pod, owner))));
            } else if (!isOf(pod, copy) || copy.deletionTimestamp().isPresent()) {
                due.add(pod.fullName());
                attempt(copy, "removed", () -> delete(copy));
            }
        }
        if (complete) {
            copies.values().forEach(copy -> {
                due.add(copy.fullName());
                attempt(copy, "removed", () -> delete(copy));
            });
        }
        attempts.keySet().removeIf(name -> !due.contains(name));
    }

    /** Whether {@code copy} is the API's copy of {@code pod} as it is now. */
    static boolean isOf(Pod pod, Pod copy) {
        return copy.isMirror() && copy.mirrorHash().equals(pod.annotations().get(Manifest.HASH));
    }

    private Optional<JsonObject> ownedBy() {
        return node.get()
                .filter(known -> !known.uid().isEmpty() && !known.metadata().has("deletionTimestamp"))
                .map(known -> JsonObject.builder()
                        .put("apiVersion", "v1")
                        .put("kind", "Node")
                        .put("name", known.name())
                        .put("uid", known.uid())
                        .put("controller", true)
                        .build());
    }

    private static JsonObject copy(Pod pod, JsonObject owner) {
        String hash = String.valueOf(pod.annotations().get(Manifest.HASH));
        return pod.json()
                .update(
                        "metadata",
                        metadata -> metadata.without("uid")
                                .with("ownerReferences", JsonArray.of(owner))
                                .update("annotations", annotations -> annotations.with(Pod.CONFIG_MIRROR, hash)));
    }

    private CompletableFuture<JsonObject> delete(Pod copy) {
        JsonObject options = JsonObject.builder()
                .put("kind", "DeleteOptions")
                .put("apiVersion", "v1")
                .put("gracePeriodSeconds", 0)
                .put(
                        "preconditions",
                        JsonObject.builder().put("uid", copy.uid()).build())
                .build();
        return client.delete(ResourceType.PODS, copy.namespace(), copy.name(), options)
                .exceptionallyCompose(error -> Failures.isCode(error, 404) || Failures.isCode(error, 409)
                        ? CompletableFuture.completedFuture(JsonObject.EMPTY)
                        : CompletableFuture.failedFuture(error));
    }

    /** One call at a time for each copy; the watch then shows what became of it. */
    private void attempt(Pod pod, String what, Supplier<CompletableFuture<JsonObject>> call) {
        String name = pod.fullName();
        long now = client.loop().clock().nanoTime();
        Attempt last = attempts.getOrDefault(name, new Attempt(false, 0, now));
        if (last.running() || last.nextAt() - now > 0) {
            return;
        }
        attempts.put(name, new Attempt(true, last.failures(), now));
        call.get().whenComplete((done, error) -> {
            int failures = error == null || Failures.isCode(error, 409) ? 0 : last.failures() + 1;
            if (failures == 1) {
                log.warn("Mirror pod {} cannot be {}: {}", name, what, Failures.text(error));
            } else if (error == null) {
                log.info("Mirror pod {} was {}", name, what);
            }
            long after = client.loop().clock().nanoTime();
            attempts.replace(
                    name,
                    new Attempt(
                            false,
                            failures,
                            after + RETRY.delay(Math.max(0, failures - 1)).toNanos()));
        });
    }
}
