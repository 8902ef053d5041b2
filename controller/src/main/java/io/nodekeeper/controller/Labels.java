package io.nodekeeper.controller;

import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.time.Backoff;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the beta labels for operating system and architecture equal to the stable ones, as long as somebody selects nodes
 * by them. One write a node at a time, repeated until it is no longer needed. Confined to the loop.
 */
final class Labels implements NodeFollower {
    private static final Logger log = LoggerFactory.getLogger(Labels.class);
    /** The label that tells the truth, and the one that follows. Kubernetes' own. */
    private static final Map<String, String> FOLLOWERS = Map.of(
            "kubernetes.io/os", "beta.kubernetes.io/os",
            "kubernetes.io/arch", "beta.kubernetes.io/arch");
    /** Between tries. Chosen. */
    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));

    /** The labels that a node still needs, after so many failures. */
    private record Work(Map<String, String> needed, int failures) {}

    private final KubeClient client;
    private final Lanes lanes;
    /** Only those nodes of which something is to be written. */
    private final Map<NodeHealth, Work> underWay = new HashMap<>();

    Labels(KubeClient client, Lanes lanes) {
        this.client = client;
        this.lanes = lanes;
    }

    /** The labels to set, with their values. */
    static Map<String, String> needed(Node node) {
        JsonObject labels = node.metadata().object("labels");
        Map<String, String> needed = new HashMap<>();
        FOLLOWERS.forEach((truth, follower) -> {
            if (labels.has(truth)
                    && !(labels.has(follower) && labels.text(follower).equals(labels.text(truth)))) {
                needed.put(follower, labels.text(truth));
            }
        });
        return needed;
    }

    @Override
    public void seen(NodeHealth health, Node node) {
        Map<String, String> needed = needed(node);
        Work work = underWay.get(health);
        if (work != null) {
            underWay.put(health, new Work(needed, work.failures));
        } else if (!needed.isEmpty()) {
            underWay.put(health, new Work(needed, 0));
            lanes.background(() -> write(health));
        }
    }

    @Override
    public void gone(NodeHealth health) {
        underWay.remove(health);
    }

    private CompletionStage<?> write(NodeHealth health) {
        Work work = underWay.get(health);
        if (work == null || work.needed.isEmpty() || lanes.isClosed()) {
            underWay.remove(health);
            return CompletableFuture.completedStage(null);
        }
        // The UID cannot be changed, so a node that was made again under that name refuses the patch.
        JsonObject patch = JsonObject.EMPTY.with(
                "metadata", JsonObject.EMPTY.with("uid", health.uid).with("labels", JsonObject.ofStrings(work.needed)));
        return client.patch(ResourceType.NODES, "", health.name, "", PatchType.STRATEGIC, patch)
                .handle((written, error) -> error == null ? wrote(health, work) : failed(health, error))
                .thenCompose(next -> next);
    }

    private CompletionStage<?> wrote(NodeHealth health, Work done) {
        log.info("Node {}: labels set {}", health.name, done.needed);
        Work left = underWay.remove(health);
        if (left != null && !left.needed.isEmpty() && !left.needed.equals(done.needed)) {
            // The stable ones were changed while the beta ones were written.
            underWay.put(health, left);
            return write(health);
        }
        return CompletableFuture.completedStage(null);
    }

    private CompletionStage<?> failed(NodeHealth health, Throwable error) {
        Work work = underWay.get(health);
        if (work != null && !Failures.isCode(error, 404)) {
            Duration wait = RETRY.delay(work.failures);
            log.warn("Node {}: labels not set: {}; again in {}", health.name, Failures.text(error), wait);
            underWay.put(health, new Work(work.needed, work.failures + 1));
            client.loop().schedule(wait, () -> lanes.background(() -> write(health)));
        } else {
            underWay.remove(health);
        }
        return CompletableFuture.completedStage(null);
    }
}
