package io.nodekeeper.agent.pods.objects;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.volumes.VolumeNeed;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonMemory;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

/**
 * The tokens of one pod's service account, bound to the pod. A token is requested again after 80 % of its life or a day, as a
 * kubelet does; while that fails, the old one is used until it ends. Tokens are in memory only, and in no log. Confined to its
 * client's loop.
 */
public final class PodTokens {
    private static final Duration DAY = Duration.ofHours(24);
    /**
     * The most bytes of memory of the tokens of one pod, which has them as long as it is on the node: some 70 of the usual length. A
     * token has the audience in it, which may be long.
     */
    private static final long MOST_BYTES = 128 << 10;

    private static final Pattern ACCOUNT = Pattern.compile("[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?");

    private final KubeClient client;
    /** As many as the pod's volumes ask for, and no more than {@link #MOST_BYTES}. */
    private final Map<VolumeNeed.Token, Issued> tokens = new HashMap<>();

    /** No tokens yet. */
    public PodTokens(KubeClient client) {
        this.client = client;
    }

    /** The status of an answered TokenRequest, and when it was asked: ages are by this machine's clock only, monotonic ns. */
    private record Issued(JsonObject answer, long asked, Duration life) {
        private boolean isOlderThan(Duration age, long now) {
            return now - asked >= age.toNanos();
        }

        private boolean isDue(long now) {
            Duration most = life.multipliedBy(4).dividedBy(5);
            return isOlderThan(most.compareTo(DAY) < 0 ? most : DAY, now);
        }

        @Override
        public String toString() {
            return "token for " + life;
        }
    }

    /** The {@code status} of the answered TokenRequest for a need of {@code pod}. */
    public CompletableFuture<JsonObject> get(Pod pod, VolumeNeed.Token need) {
        long now = client.loop().clock().nanoTime();
        Issued known = tokens.get(need);
        if (known != null && !known.isDue(now)) {
            return CompletableFuture.completedFuture(known.answer());
        }
        return request(pod, need)
                .thenApply(answer -> {
                    long seconds =
                            answer.object("spec").number("expirationSeconds").orElse(need.seconds());
                    JsonObject kept = JsonObject.EMPTY.with("status", answer.object("status"));
                    keep(need, new Issued(kept, now, Duration.ofSeconds(seconds)));
                    return kept;
                })
                .exceptionallyCompose(error -> known == null || known.isOlderThan(known.life(), now)
                        ? CompletableFuture.failedFuture(error)
                        : CompletableFuture.completedFuture(known.answer()));
    }

    private void keep(VolumeNeed.Token need, Issued issued) {
        long others = tokens.entrySet().stream()
                .filter(entry -> !entry.getKey().equals(need))
                .mapToLong(entry -> JsonMemory.of(entry.getValue().answer()))
                .sum();
        if (others + JsonMemory.of(issued.answer()) > MOST_BYTES) {
            throw new IllegalStateException(
                    "the tokens of the pod take more than " + MOST_BYTES + " bytes of the agent's memory");
        }
        tokens.put(need, issued);
    }

    private CompletableFuture<JsonObject> request(Pod pod, VolumeNeed.Token need) {
        String named = pod.spec().text("serviceAccountName");
        String account = named.isEmpty() ? "default" : named;
        if (!ACCOUNT.matcher(account).matches()) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    "the name of a service account must be one of Kubernetes, got \"" + account + "\""));
        }
        JsonObject.Builder spec = JsonObject.builder()
                .put("expirationSeconds", need.seconds())
                .put(
                        "boundObjectRef",
                        JsonObject.builder()
                                .put("apiVersion", "v1")
                                .put("kind", "Pod")
                                .put("name", pod.name())
                                .put("uid", pod.uid())
                                .build());
        if (!need.audience().isEmpty()) {
            spec.put("audiences", JsonArray.ofStrings(List.of(need.audience())));
        }
        JsonObject request = JsonObject.builder()
                .put("kind", "TokenRequest")
                .put("apiVersion", "authentication.k8s.io/v1")
                .put("spec", spec.build())
                .build();
        ResourceType type = new ResourceType("", "v1", "serviceaccounts/" + account + "/token", "TokenRequest", true);
        return client.create(type, pod.namespace(), request);
    }
}
