package io.nodekeeper.agent.pods.objects;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.volumes.VolumeNeed;
import io.nodekeeper.agent.pods.volumes.VolumeObjects;
import io.nodekeeper.agent.pods.volumes.VolumeRoom;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonMemory;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Reads what the volumes of one pod are made from, some at the same time. Confined to the loop of its parts. */
public final class VolumeReads {
    /** A pod may name thousands of tokens, each of which is a request. */
    private static final int AT_ONCE = 4;
    /** The most tokens of one pod, which are kept as long as it is on the node. Pods have a few. */
    private static final int MOST_TOKENS = 64;

    private final Pod pod;
    private final ObjectCache cache;
    private final PodTokens tokens;
    private final Duration age;
    private final VolumeRoom.Claim claim;
    private final Iterator<VolumeNeed> needs;
    private final Map<VolumeNeed, JsonObject> found = new HashMap<>();
    private final Map<VolumeNeed, String> errors = new HashMap<>();
    private final CompletableFuture<VolumeObjects> all = new CompletableFuture<>();
    private int running;
    private int tokensAsked;
    /** Why nothing more is read. */
    private Optional<String> full = Optional.empty();

    private VolumeReads(Pod pod, ObjectCache cache, PodTokens tokens, Duration age, VolumeRoom.Claim claim) {
        this.pod = pod;
        this.cache = cache;
        this.tokens = tokens;
        this.age = age;
        this.claim = claim;
        needs = VolumeNeed.of(pod).iterator();
    }

    /**
     * Never fails: an error is part of the result, so that it can be told by the name of the volume. Once there is no memory for an
     * object, no further one is read.
     *
     * @param claim holds the memory of the result
     */
    public static CompletableFuture<VolumeObjects> of(
            Pod pod, ObjectCache cache, PodTokens tokens, Duration age, VolumeRoom.Claim claim) {
        VolumeReads reads = new VolumeReads(pod, cache, tokens, age, claim);
        reads.proceed();
        return reads.all;
    }

    private void proceed() {
        while (running < AT_ONCE && needs.hasNext()) {
            VolumeNeed need = needs.next();
            if (full.isPresent()) {
                errors.put(need, full.get());
                continue;
            }
            CompletableFuture<Optional<JsonObject>> read = read(need);
            if (read.isDone()) {
                // Here, and not below: thousands of objects that are at hand must not nest as many calls.
                read.whenComplete((object, error) -> take(need, object, error));
            } else {
                running++;
                read.whenComplete((object, error) -> {
                    running--;
                    take(need, object, error);
                    proceed();
                });
            }
        }
        if (running == 0 && !needs.hasNext()) {
            all.complete(new VolumeObjects(found, errors));
        }
    }

    private CompletableFuture<Optional<JsonObject>> read(VolumeNeed need) {
        return switch (need) {
            case VolumeNeed.ConfigMap(String name) -> cache.get(ResourceType.CONFIG_MAPS, pod.namespace(), name, age);
            case VolumeNeed.Secret(String name) -> cache.get(ResourceType.SECRETS, pod.namespace(), name, age);
            case VolumeNeed.Token token -> token(token).thenApply(Optional::of);
        };
    }

    private CompletableFuture<JsonObject> token(VolumeNeed.Token token) {
        if (tokensAsked >= MOST_TOKENS) {
            return CompletableFuture.failedFuture(
                    new IllegalStateException("the pod's volumes ask for more than " + MOST_TOKENS + " tokens"));
        }
        tokensAsked++;
        return tokens.get(pod, token);
    }

    private void take(VolumeNeed need, @Nullable Optional<JsonObject> object, @Nullable Throwable error) {
        if (object == null) {
            String prefix = need instanceof VolumeNeed.Token ? "failed to fetch token: " : "";
            errors.put(need, prefix + (error == null ? "no answer" : Failures.text(error)));
            return;
        }
        try {
            object.map(VolumeReads::content).ifPresent(content -> {
                claim.take(JsonMemory.of(content));
                found.put(need, content);
            });
        } catch (IllegalStateException noRoom) {
            String why = String.valueOf(noRoom.getMessage());
            errors.put(need, why);
            full = Optional.of(why);
        }
    }

    /** What becomes files. */
    private static JsonObject content(JsonObject object) {
        JsonObject.Builder content = JsonObject.builder();
        for (String field : new String[] {"data", "binaryData", "status"}) {
            object.get(field).ifPresent(value -> content.put(field, value));
        }
        return content.build();
    }
}
