package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.KubeClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Live looks at nodes, before something is done to their pods that cannot be undone. Confined to the loop. */
final class NodeLooks {
    /**
     * All pods of a node leave together: one look is good for all that leave within this time, unless the node changed
     * since the look began. The value keeps reads far below one for each pod, and is short beside any toleration.
     */
    private static final long GOOD_FOR = Duration.ofSeconds(1).toNanos();

    private final KubeClient client;

    NodeLooks(KubeClient client) {
        this.client = client;
    }

    /**
     * The node as the API has it, not longer ago than a second, and not before its last known change; absent if there is none
     * of that name.
     */
    CompletableFuture<Optional<Node>> at(HostNode node) {
        long now = client.loop().clock().nanoTime();
        CompletableFuture<Optional<Node>> last = node.look;
        if (last != null && !last.isCompletedExceptionally() && now - node.lookedAt <= GOOD_FOR) {
            return last;
        }
        CompletableFuture<Optional<Node>> look = fresh(node.name);
        node.look = look;
        node.lookedAt = now;
        look.whenComplete((seen, error) -> client.loop().schedule(Duration.ofNanos(GOOD_FOR), () -> {
            // Not kept, as it holds the whole node.
            if (node.look == look) {
                node.look = null;
            }
        }));
        return look;
    }

    /** The node as the API has it now; absent if there is none of that name. */
    CompletableFuture<Optional<Node>> fresh(String name) {
        return client.get(ResourceType.NODES, "", name).handle((json, error) -> {
            if (error == null) {
                return Optional.of(new Node(json));
            }
            if (Failures.isCode(error, 404)) {
                return Optional.empty();
            }
            throw new CompletionException(Failures.cause(error));
        });
    }
}
