package io.nodekeeper.apiserver;

import io.nodekeeper.api.JsonObject;
import java.util.function.BiConsumer;

/**
 * What a write is about. Immutable.
 *
 * @param resource the kind of object
 * @param target which object, and by way of which subresource; without a name for a creation
 * @param dryRun whether nothing is to be stored
 * @param admission refuses, by an exception, what the client may not make of the object. It gets the very state that is to
 *     be replaced (empty for a creation) and the one to be stored (the same for a deletion), so there is no gap between
 *     the check and the write
 */
record Order(
        Resource resource, RequestInfo.Target target, boolean dryRun, BiConsumer<JsonObject, JsonObject> admission) {

    /** The object's key in the store. */
    String key() {
        return resource.key(target.namespace(), target.name());
    }

    /** The same about another object of that kind. */
    Order about(String namespace, String name) {
        RequestInfo.Target other =
                new RequestInfo.Target(target.group(), target.version(), target.plural(), namespace, name, "");
        return new Order(resource, other, dryRun, admission);
    }
}
