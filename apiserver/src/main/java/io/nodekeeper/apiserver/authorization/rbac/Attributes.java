package io.nodekeeper.apiserver.authorization.rbac;

import java.util.List;
import java.util.Map;

/**
 * The attributes of an authorization request. Immutable.
 *
 * @param user the user's name
 * @param groups the user's groups
 * @param verb the verb, as {@code get}; for paths the method in lower case
 * @param group API group; empty for core
 * @param resource the resource with its subresource, as {@code pods/status}; empty if this is about a path
 * @param namespace empty for all, or where there are none
 * @param name the object's name; empty for the collection
 * @param path what is not about objects, as {@code /healthz}; empty if this is about a resource
 * @param selected the fields that the field selector of a list or watch binds to one value each
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

    /** About a path that leads to no object. */
    public static Attributes ofPath(String user, List<String> groups, String verb, String path) {
        return new Attributes(user, groups, verb, "", "", "", "", path, Map.of());
    }

    /** About objects. */
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

    /** The same for a list or watch whose field selector binds these fields to one value each. */
    public Attributes selecting(Map<String, String> fields) {
        return new Attributes(user, groups, verb, group, resource, namespace, name, path, Map.copyOf(fields));
    }

    /** Whether this is about objects. */
    public boolean isResource() {
        return path.isEmpty();
    }

    /** The resource without its subresource. */
    public String plural() {
        int slash = resource.indexOf('/');
        return slash < 0 ? resource : resource.substring(0, slash);
    }

    /** What is below the object's path; empty for the object itself. */
    public String subresource() {
        int slash = resource.indexOf('/');
        return slash < 0 ? "" : resource.substring(slash + 1);
    }
}
