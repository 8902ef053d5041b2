package io.nodekeeper.apiserver.nodecalls;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Reads the objects of a request that a node answers: its Node, and the pod that it is about. */
public final class NodeObject {
    private NodeObject() {}

    /**
     * The node called {@code name}. A node writes its own object, and anyone who may read a log of its pods has it read, so a large one is
     * decoded in the {@code turn} of that user.
     */
    static CompletableFuture<JsonObject> read(Store store, String name, Executor turn) {
        return store.read(Resources.NODES.key("", name))
                .thenCompose(found -> decoded(
                        Resources.NODES,
                        found.orElseThrow(() -> ApiException.notFound(Resources.NODES.type(), name)),
                        turn));
    }

    /** The object of {@code resource} in {@code entry}, whose value is in memory. A large one is decoded in the {@code turn} of who asks. */
    public static CompletableFuture<JsonObject> decoded(Resource resource, Entry entry, Executor turn) {
        return entry.length() < Codec.LARGE
                ? CompletableFuture.completedFuture(resource.codec().decode(entry))
                : CompletableFuture.supplyAsync(() -> resource.codec().decode(entry), turn);
    }
}
