package io.nodekeeper.apiserver.request;

import io.nodekeeper.api.ResourceType;

/**
 * The object or the collection that the path of a request names. Immutable.
 *
 * @param group API group; empty for core
 * @param version API version
 * @param plural the resource
 * @param namespace empty for all namespaces, or for a resource without namespaces
 * @param name empty for the collection
 * @param subresource empty for the object itself
 */
public record RequestTarget(
        String group, String version, String plural, String namespace, String name, String subresource) {
    /** The object of that name, or one of its subresources. */
    public static RequestTarget of(ResourceType type, String namespace, String name, String subresource) {
        return new RequestTarget(type.group(), type.version(), type.plural(), namespace, name, subresource);
    }

    /** The collection that the object is in, restricted to the same namespace. */
    public RequestTarget collection() {
        return new RequestTarget(group, version, plural, namespace, "", "");
    }

    /** Whether it is a namespace, or a subresource of one. */
    public boolean isNamespace() {
        return group.isEmpty() && plural.equals("namespaces");
    }

    /** The resource with its subresource, as {@code pods/status}; what rules of roles name. */
    public String qualified() {
        return subresource.isEmpty() ? plural : plural + "/" + subresource;
    }
}
