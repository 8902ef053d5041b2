package io.nodekeeper.client.events;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;

/**
 * The object that an event is about.
 *
 * @param apiVersion its API version; may be empty
 * @param kind its kind
 * @param namespace its namespace; empty if it has none
 * @param name its name
 * @param uid its UID; may be empty
 */
public record ObjectRef(String apiVersion, String kind, String namespace, String name, String uid) {

    /** A reference to {@code object}. */
    public static ObjectRef of(ResourceType type, ApiObject object) {
        return new ObjectRef(type.apiVersion(), type.kind(), object.namespace(), object.name(), object.uid());
    }

    JsonObject json() {
        return JsonObject.builder()
                .put("kind", kind)
                .putUnlessEmpty("namespace", namespace)
                .put("name", name)
                .putUnlessEmpty("uid", uid)
                .putUnlessEmpty("apiVersion", apiVersion)
                .build();
    }
}
