package io.nodekeeper.apiserver.access;

import java.util.List;

/**
 * A question of authorization: may this user do that? Immutable.
 *
 * @param user the user's name
 * @param groups the user's groups
 * @param verb the verb, as {@code get}; for paths the method in lower case
 * @param group API group; empty for core
 * @param resource the resource with its subresource, as {@code pods/status}; empty if this is about a path
 * @param namespace empty for all, or where there are none
 * @param name the object's name; empty for the collection
 * @param path what is not about objects, as {@code /healthz}; empty if this is about a resource
 */
public record Attributes(
        String user,
        List<String> groups,
        String verb,
        String group,
        String resource,
        String namespace,
        String name,
        String path) {

    /** About a path that leads to no object. */
    public static Attributes ofPath(String user, List<String> groups, String verb, String path) {
        return new Attributes(user, groups, verb, "", "", "", "", path);
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
        return new Attributes(user, groups, verb, group, resource, namespace, name, "");
    }

    /** Whether this is about objects. */
    public boolean isResource() {
        return path.isEmpty();
    }

    /** The resource without its subresource. */
    String plural() {
        int slash = resource.indexOf('/');
        return slash < 0 ? resource : resource.substring(0, slash);
    }

    /** What is below the object's path; empty for the object itself. */
    String subresource() {
        int slash = resource.indexOf('/');
        return slash < 0 ? "" : resource.substring(slash + 1);
    }
}
