package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldSelector;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Schema;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A resource that the server serves: its type, shape and rules, and how it is shown. Immutable.
 *
 * @param type where it is found and what it is called
 * @param schema its shape
 * @param registry the segment of its keys in the store, Kubernetes' own
 * @param shortNames what kubectl takes for its name
 * @param hasStatus whether it has a status that only the status subresource writes
 * @param strategy its rules
 * @param fields the values that field selectors may ask for, besides name and namespace
 * @param table how {@code kubectl get} shows it
 */
record Resource(
        ResourceType type,
        Schema schema,
        String registry,
        List<String> shortNames,
        boolean hasStatus,
        Strategy strategy,
        Map<String, Function<JsonObject, String>> fields,
        Table table) {

    static final String ROOT = "/registry/";

    Codec codec() {
        return new Codec(type);
    }

    /** The key of an object. */
    String key(String namespace, String name) {
        return prefix(namespace) + name;
    }

    /** The prefix of all objects of a namespace, or of all for the empty namespace. */
    String prefix(String namespace) {
        return ROOT + registry + "/" + (namespace.isEmpty() ? "" : namespace + "/");
    }

    /** The value of a field that a selector asks for. */
    String field(JsonObject object, String path) {
        return switch (path) {
            case "metadata.name" -> object.object("metadata").text("name");
            case "metadata.namespace" -> object.object("metadata").text("namespace");
            default -> fields.getOrDefault(path, unknown -> "").apply(object);
        };
    }

    /** Refuses fields that nobody can ask for. */
    void checkFields(FieldSelector selector) {
        for (FieldSelector.Term term : selector.terms()) {
            String field = term.field();
            if (field.equals("metadata.name") || field.equals("metadata.namespace") || fields.containsKey(field)) {
                continue;
            }
            throw ApiException.badRequest(
                    fields.isEmpty()
                            ? "\"" + field
                                    + "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
                            : "field label not supported: " + field);
        }
    }
}
