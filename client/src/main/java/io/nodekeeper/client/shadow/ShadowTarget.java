package io.nodekeeper.client.shadow;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.selector.FieldSelector;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The parsed target of a request.
 *
 * @param root {@code /api/v1} or {@code /apis/GROUP/VERSION}
 * @param namespace empty if there is none
 * @param plural the resource, as in paths
 * @param name empty for a whole collection
 * @param subresource such as {@code status}; may be empty
 * @param query the raw query; may be empty
 */
record ShadowTarget(String root, String namespace, String plural, String name, String subresource, String query) {

    static ShadowTarget of(String target) {
        int question = target.indexOf('?');
        String path = question < 0 ? target : target.substring(0, question);
        String query = question < 0 ? "" : target.substring(question + 1);
        String[] parts = path.split("/");
        int root = part(parts, 1).equals("api") ? 3 : 4;
        // "namespaces" is also a resource; it is a prefix only if something follows the namespace.
        boolean namespaced = part(parts, root).equals("namespaces") && parts.length > root + 2;
        int resource = namespaced ? root + 2 : root;
        return new ShadowTarget(
                String.join("/", Arrays.copyOf(parts, Math.min(root, parts.length))),
                namespaced ? part(parts, root + 1) : "",
                part(parts, resource),
                part(parts, resource + 1),
                part(parts, resource + 2),
                query);
    }

    /** The path of the object, without subresource and query. */
    String object() {
        return root + (namespace.isEmpty() ? "" : "/namespaces/" + namespace) + "/" + plural + "/" + name;
    }

    /** The path of an object of this collection. */
    String object(JsonObject metadata) {
        return new ShadowTarget(root, metadata.text("namespace"), plural, metadata.text("name"), "", "").object();
    }

    /** Whether this collection with its selectors contains {@code object} of the resource of {@code other}. */
    boolean contains(ShadowTarget other, JsonObject object) {
        return root.equals(other.root)
                && plural.equals(other.plural)
                && (namespace.isEmpty() || namespace.equals(other.namespace))
                && parameter("labelSelector").isEmpty()
                && FieldSelector.parse(parameter("fieldSelector")).matches(field -> valueOf(object, field));
    }

    /** Whether {@code path}, as {@link #object()} gives it for an object of this resource, is in this collection. */
    boolean holds(String path) {
        String collection = namespace.isEmpty() ? root + "/" : root + "/namespaces/" + namespace + "/" + plural + "/";
        return path.startsWith(collection);
    }

    /** Whether a selector limits the collection. */
    boolean isSelective() {
        return !parameter("labelSelector").isEmpty()
                || !parameter("fieldSelector").isEmpty();
    }

    /** The decoded query parameter; empty if it is absent. */
    String parameter(String name) {
        for (String pair : query.split("&")) {
            if (pair.startsWith(name + "=")) {
                return URLDecoder.decode(pair.substring(name.length() + 1), StandardCharsets.UTF_8);
            }
        }
        return "";
    }

    private static String valueOf(JsonObject object, String field) {
        String[] path = field.split("\\.");
        JsonObject at = object;
        for (int i = 0; i < path.length - 1; i++) {
            at = at.object(path[i]);
        }
        return at.text(path[path.length - 1]);
    }

    private static String part(String[] parts, int index) {
        return index < parts.length ? parts[index] : "";
    }
}
