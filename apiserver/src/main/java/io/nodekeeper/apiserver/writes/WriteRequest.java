package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/**
 * A write request. Immutable.
 *
 * @param resource the resource of the object
 * @param target the object and the subresource; without a name for a creation
 * @param dryRun whether to store nothing
 * @param admission refuses a change with an exception. It gets exactly the state that the write replaces (empty for a
 *     creation) and the new state (the same for a deletion), so there is no gap between the check and the write
 * @param turn runs what is left after a wait, such as the attempts after a conflict, on threads of their own, in the turn of the request's user
 * @param manager the field manager that owns the written fields
 * @param patches whether the request is a patch, not a whole object
 */
public record WriteRequest(
        Resource resource,
        RequestTarget target,
        boolean dryRun,
        BiConsumer<JsonObject, JsonObject> admission,
        Executor turn,
        String manager,
        boolean patches) {

    /** A write by the server itself, or one without field ownership. */
    public WriteRequest(
            Resource resource,
            RequestTarget target,
            boolean dryRun,
            BiConsumer<JsonObject, JsonObject> admission,
            Executor turn) {
        this(resource, target, dryRun, admission, turn, "nodekeeper", false);
    }

    /** The object's key in the store. */
    public String key() {
        return resource.key(target.namespace(), target.name());
    }

    /** The same request for another object of the resource. */
    WriteRequest about(String namespace, String name) {
        return new WriteRequest(
                resource,
                RequestTarget.of(resource.type(), namespace, name, ""),
                dryRun,
                admission,
                turn,
                manager,
                patches);
    }
}
