package io.nodekeeper.client;

import io.nodekeeper.api.ResourceType;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/**
 * Selects the objects of a {@link Reflector}.
 *
 * @param type their resource
 * @param namespace their namespace; empty for all
 * @param labelSelector in the API's grammar; empty for all
 * @param fieldSelector in the API's grammar; empty for all
 */
public record Selection(ResourceType type, String namespace, String labelSelector, String fieldSelector) {

    /** All objects of a resource. */
    public static Selection all(ResourceType type) {
        return new Selection(type, "", "", "");
    }

    /** All objects of a resource in one namespace. */
    public static Selection inNamespace(ResourceType type, String namespace) {
        return new Selection(type, namespace, "", "");
    }

    /** The object of that name. */
    public static Selection named(ResourceType type, String name) {
        return new Selection(type, "", "", "metadata.name=" + name);
    }

    /** The selectors as a query that starts with {@code &}; empty without selectors. */
    String query() {
        return parameter("labelSelector", labelSelector) + parameter("fieldSelector", fieldSelector);
    }

    private static String parameter(String name, String value) {
        return value.isEmpty() ? "" : "&" + name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return type.qualifiedName() + (namespace.isEmpty() ? "" : " in " + namespace) + query();
    }
}
