package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import java.util.function.BiConsumer;

/**
 * A write request. Immutable.
 *
 * @param resource the kind of object
 * @param target which object, and by way of which subresource; without a name for a creation
 * @param dryRun whether nothing is to be stored
 * @param admission refuses, by an exception, what the client may not make of the object. It gets the very state that is
 *     to be replaced (empty for a creation) and the one to be stored (the same for a deletion), so there is no gap
 *     between the check and the write
 * @param manager what the client calls itself, as the owner of the fields that it writes: a name, or its user agent
 * @param patches whether the client asks for a change of the object, rather than for a whole one
 */
public record WriteRequest(
        Resource resource,
        RequestTarget target,
        boolean dryRun,
        BiConsumer<JsonObject, JsonObject> admission,
        String manager,
        boolean patches) {

    /** A write of the server's own, or one that changes no fields. */
    public WriteRequest(
            Resource resource, RequestTarget target, boolean dryRun, BiConsumer<JsonObject, JsonObject> admission) {
        this(resource, target, dryRun, admission, "nodekeeper", false);
    }

    /** The object's key in the store. */
    public String key() {
        return resource.key(target.namespace(), target.name());
    }

    /** The same about another object of that kind. */
    WriteRequest about(String namespace, String name) {
        return new WriteRequest(
                resource, RequestTarget.of(resource.type(), namespace, name, ""), dryRun, admission, manager, patches);
    }
}
