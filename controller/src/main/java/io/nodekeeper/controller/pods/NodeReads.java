package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.KubeClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Reads nodes live before irreversible actions on their pods. Confined to the loop. */
final class NodeReads {
    /**
     * How long one read is valid for all pods of a node, unless the node has changed since the read began. All pods of
     * a node leave together, so this keeps reads far below one per pod; it is short compared with any toleration.
     */
    private static final long GOOD_FOR = Duration.ofSeconds(1).toNanos();

    private final KubeClient client;

    NodeReads(KubeClient client) {
        this.client = client;
    }

    /** The node in the API, read at most a second ago and after its last known change; absent if it does not exist. */
    CompletableFuture<Optional<Node>> at(HostNode node) {
        long now = client.loop().clock().nanoTime();
        CompletableFuture<Optional<Node>> last = node.liveRead;
        if (last != null && !last.isCompletedExceptionally() && now - node.liveReadAt <= GOOD_FOR) {
            return last;
        }
        CompletableFuture<Optional<Node>> read = fresh(node.name);
        node.liveRead = read;
        node.liveReadAt = now;
        read.whenComplete((seen, error) -> client.loop().schedule(Duration.ofNanos(GOOD_FOR), () -> {
            // Not kept, because it holds the whole node.
            if (node.liveRead == read) {
                node.forgetLiveRead();
            }
        }));
        return read;
    }

    /** Reads the node from the API now; absent if it does not exist. */
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
