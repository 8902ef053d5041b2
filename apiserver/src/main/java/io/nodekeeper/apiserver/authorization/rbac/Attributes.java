package io.nodekeeper.apiserver.authorization.rbac;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The attributes of an authorization request. Immutable.
 *
 * @param user the user's name
 * @param groups the user's groups
 * @param verb the verb, such as {@code get}; for a path the HTTP method in lower case
 * @param group the API group; empty for core
 * @param resource the resource with its subresource, such as {@code pods/status}; empty for a path
 * @param namespace the namespace; empty for all namespaces and for cluster-scoped resources
 * @param name the name of the object; empty for the collection
 * @param path a path that is not a resource, such as {@code /healthz}; empty for a resource
 * @param selected the fields for which the field selector of a list or watch requires one value each
 */
public record Attributes(
        String user,
        List<String> groups,
        String verb,
        String group,
        String resource,
        String namespace,
        String name,
        String path,
        Map<String, String> selected) {

    /** The attributes of a request for a path that is not a resource. */
    public static Attributes ofPath(String user, List<String> groups, String verb, String path) {
        return new Attributes(user, groups, verb, "", "", "", "", path, Map.of());
    }

    /** The attributes of a request for a resource. */
    public static Attributes ofResource(
            String user,
            List<String> groups,
            String verb,
            String group,
            String resource,
            String namespace,
            String name) {
        return new Attributes(user, groups, verb, group, resource, namespace, name, "", Map.of());
    }

    /** The same attributes with these selected fields. */
    public Attributes selecting(Map<String, String> fields) {
        // Map.copyOf is slow for keys of one hash code, HashMap is not.
        return new Attributes(
                user,
                groups,
                verb,
                group,
                resource,
                namespace,
                name,
                path,
                Collections.unmodifiableMap(new HashMap<>(fields)));
    }

    /** Whether this is a request for a resource. */
    public boolean isResource() {
        return path.isEmpty();
    }

    /** The resource without its subresource. */
    public String plural() {
        int slash = resource.indexOf('/');
        return slash < 0 ? resource : resource.substring(0, slash);
    }

    /** The subresource; empty for the object itself. */
    public String subresource() {
        int slash = resource.indexOf('/');
        return slash < 0 ? "" : resource.substring(slash + 1);
    }
}
