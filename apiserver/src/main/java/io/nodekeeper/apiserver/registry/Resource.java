package io.nodekeeper.apiserver.registry;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.api.selector.FieldSelector;
import io.nodekeeper.apiserver.printers.Table;
import io.nodekeeper.apiserver.printers.Tables;
import io.nodekeeper.apiserver.schema.KindSchemas;
import io.nodekeeper.apiserver.storage.Codec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A resource of the server: its type, schema, rules and presentation. Immutable.
 * @param type its paths and names
 * @param schema its schema
 * @param registry the segment of its keys in the store, Kubernetes' own; empty for a resource that is never stored,
 *     such as a review
 * @param shortNames its short names for kubectl
 * @param categories its categories for kubectl, such as {@code all}
 * @param verbs its verbs
 * @param subresources its subresources
 * @param strategy its rules
 * @param fields the values for field selectors, in addition to name and namespace
 * @param table its columns in {@code kubectl get}
 * @param codec the stored form of its objects
 */
public record Resource(
        ResourceType type,
        Schema schema,
        String registry,
        List<String> shortNames,
        List<String> categories,
        List<String> verbs,
        List<Subresource> subresources,
        Strategy strategy,
        Map<String, Function<JsonObject, String>> fields,
        Table table,
        Codec codec) {

    /** The verbs of a stored resource. */
    public static final List<String> VERBS =
            List.of("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch");

    /** A stored resource with all verbs, no subresources and no rules of its own, shown by name and age. */
    public static Resource stored(ResourceType type, String registry) {
        return new Resource(
                type,
                KindSchemas.of(type),
                registry,
                List.of(),
                List.of(),
                VERBS,
                List.of(),
                new Strategy() {},
                Map.of(),
                Tables.NAME_AND_AGE,
                new Codec(type));
    }

    /** A resource that is only answered, not stored, such as a review. */
    public static Resource asked(ResourceType type) {
        return stored(type, "").verbs(List.of("create"));
    }

    /** The same with these names for kubectl. */
    public Resource shortNames(String... names) {
        return new Resource(
                type,
                schema,
                registry,
                List.of(names),
                categories,
                verbs,
                subresources,
                strategy,
                fields,
                table,
                codec);
    }

    /** The same in these categories. */
    public Resource categories(String... names) {
        return new Resource(
                type,
                schema,
                registry,
                shortNames,
                List.of(names),
                verbs,
                subresources,
                strategy,
                fields,
                table,
                codec);
    }

    /** The same with these verbs. */
    public Resource verbs(List<String> verbs) {
        return new Resource(
                type, schema, registry, shortNames, categories, verbs, subresources, strategy, fields, table, codec);
    }

    /** The same with these subresources. */
    public Resource subresources(Subresource... subresources) {
        return new Resource(
                type,
                schema,
                registry,
                shortNames,
                categories,
                verbs,
                List.of(subresources),
                strategy,
                fields,
                table,
                codec);
    }

    /** The same with these rules. */
    public Resource strategy(Strategy strategy) {
        return new Resource(
                type, schema, registry, shortNames, categories, verbs, subresources, strategy, fields, table, codec);
    }

    /** The same with these fields for selectors. */
    public Resource fields(Map<String, Function<JsonObject, String>> fields) {
        return new Resource(
                type, schema, registry, shortNames, categories, verbs, subresources, strategy, fields, table, codec);
    }

    /** The same with this table. */
    public Resource table(Table table) {
        return new Resource(
                type, schema, registry, shortNames, categories, verbs, subresources, strategy, fields, table, codec);
    }

    /** The same with this stored form. */
    public Resource codec(Codec codec) {
        return new Resource(
                type, schema, registry, shortNames, categories, verbs, subresources, strategy, fields, table, codec);
    }

    /** Whether its objects are stored. */
    public boolean isStored() {
        return !registry.isEmpty();
    }

    /** Whether it has a status that only the status subresource writes. */
    public boolean hasStatus() {
        return subresource("status").isPresent();
    }

    /** The subresource {@code name}. */
    public Optional<Subresource> subresource(String name) {
        return subresources.stream()
                .filter(subresource -> subresource.name().equals(name))
                .findFirst();
    }

    public static final String ROOT = "/registry/";

    /** The key of an object. */
    public String key(String namespace, String name) {
        return prefix(namespace) + name;
    }

    /** The prefix of all objects of a namespace, or of all for the empty namespace. */
    public String prefix(String namespace) {
        return ROOT + registry + "/" + (namespace.isEmpty() ? "" : namespace + "/");
    }

    /** The value of a field for a selector. */
    public String field(JsonObject object, String path) {
        return switch (path) {
            case "metadata.name" -> object.object("metadata").text("name");
            case "metadata.namespace" -> object.object("metadata").text("namespace");
            default -> fields.getOrDefault(path, unknown -> "").apply(object);
        };
    }

    /** Refuses unsupported fields. */
    public void checkFields(FieldSelector selector) {
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
