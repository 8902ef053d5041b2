package io.nodekeeper.controller.verdicts;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import java.util.concurrent.CompletableFuture;

/**
 * Reads a node and its lease from the API server, bypassing every cache. If single reads are forbidden but lists are
 * allowed, lists that one name. Confined to the loop.
 */
final class LiveReads {
    private final KubeClient client;

    LiveReads(KubeClient client) {
        this.client = client;
    }

    /** The node's lease, empty if there is none. */
    CompletableFuture<JsonObject> lease(String name) {
        return read(ResourceType.LEASES, Lease.NODE_NAMESPACE, name);
    }

    /** The node, empty if there is none. */
    CompletableFuture<JsonObject> node(String name) {
        return read(ResourceType.NODES, "", name);
    }

    private CompletableFuture<JsonObject> read(ResourceType type, String namespace, String name) {
        return client.get(type, namespace, name).exceptionallyCompose(error -> {
            if (Failures.isCode(error, 404)) {
                return CompletableFuture.completedFuture(JsonObject.EMPTY);
            }
            return Failures.isCode(error, 403)
                    ? listed(type, namespace, name)
                    : CompletableFuture.failedFuture(Failures.cause(error));
        });
    }

    private CompletableFuture<JsonObject> listed(ResourceType type, String namespace, String name) {
        return client.list(type, namespace, "fieldSelector=metadata.name%3D" + name)
                .thenApply(list -> list.array("items")
                        .objects()
                        .filter(item -> item.object("metadata").text("name").equals(name))
                        .findFirst()
                        .orElse(JsonObject.EMPTY));
    }
}
