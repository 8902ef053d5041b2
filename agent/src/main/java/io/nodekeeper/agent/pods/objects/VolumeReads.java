package io.nodekeeper.agent.pods.objects;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.volumes.VolumeNeed;
import io.nodekeeper.agent.pods.volumes.VolumeObjects;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Reads what the volumes of a pod are made from, all at the same time. Confined to the loop of its parts. */
public final class VolumeReads {
    private VolumeReads() {}

    /** Never fails: an error is part of the result, so that it can be told by the name of the volume. */
    public static CompletableFuture<VolumeObjects> of(Pod pod, ObjectCache cache, PodTokens tokens, Duration age) {
        Map<VolumeNeed, JsonObject> found = new ConcurrentHashMap<>();
        Map<VolumeNeed, String> errors = new ConcurrentHashMap<>();
        List<CompletableFuture<?>> reads = new ArrayList<>();
        for (VolumeNeed need : VolumeNeed.of(pod)) {
            CompletableFuture<Optional<JsonObject>> read = switch (need) {
                case VolumeNeed.ConfigMap(String name) ->
                    cache.get(ResourceType.CONFIG_MAPS, pod.namespace(), name, age);
                case VolumeNeed.Secret(String name) -> cache.get(ResourceType.SECRETS, pod.namespace(), name, age);
                case VolumeNeed.Token token -> tokens.get(pod, token).thenApply(Optional::of);
            };
            String prefix = need instanceof VolumeNeed.Token ? "failed to fetch token: " : "";
            reads.add(read.<Void>handle((object, error) -> {
                if (error != null) {
                    errors.put(need, prefix + Failures.text(error));
                } else {
                    object.ifPresent(value -> found.put(need, value));
                }
                return null;
            }));
        }
        return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new))
                .thenApply(done -> new VolumeObjects(found, errors));
    }
}
