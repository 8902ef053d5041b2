package io.nodekeeper.apiserver.discovery;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Subresource;
import io.nodekeeper.apiserver.schema.AtomicTypes;
import io.nodekeeper.apiserver.wire.FieldNames;
import io.nodekeeper.apiserver.wire.MessageTypes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Creates the schemas of an OpenAPI document, with Kubernetes' names. The fields come from Kubernetes' message types;
 * the catalogue's schemas define how lists are merged. Collects the requested schemas and all that they reference; not
 * thread-safe.
 */
final class OpenApiSchemas {
    private final boolean second;
    private final Map<String, JsonObject> made = new TreeMap<>();

    /** Schemas for version 2 or 3 of OpenAPI. */
    OpenApiSchemas(boolean second) {
        this.second = second;
    }

    /** All schemas requested so far, by name. */
    JsonObject all() {
        return JsonObject.copyOf(made);
    }

    /** A reference to the schema of the objects of {@code resource}. */
    JsonObject of(Resource resource) {
        ResourceType type = resource.type();
        return kind(type.group(), type.version(), type.kind(), Optional.of(resource.schema()));
    }

    /** A reference to the schema of a list of the objects of {@code resource}. */
    JsonObject listOf(Resource resource) {
        ResourceType type = resource.type();
        JsonObject item = of(resource);
        String kind = type.kind() + "List";
        String name = MessageTypes.descriptor(type.apiVersion(), kind)
                .map(OpenApiSchemas::name)
                .orElse("io.nodekeeper." + kind);
        if (!made.containsKey(name)) {
            Descriptor metadata = MessageTypes.listMeta();
            LinkedHashMap<String, JsonValue> properties = typeMeta();
            properties.put("metadata", message(metadata, Optional.empty()));
            properties.put("items", array(item));
            made.put(
                    name,
                    object("A list of objects of the kind " + type.kind() + ".", properties)
                            .with(GVK, JsonArray.of(Discovery.kind(type.group(), type.version(), kind))));
        }
        return reference(name);
    }

    /** A reference to the schema of a subresource of {@code resource}. */
    JsonObject of(Resource resource, Subresource subresource) {
        return subresource.version().isEmpty()
                ? subresource.kind().equals(resource.type().kind())
                        ? of(resource)
                        : kind(resource.type().group(), resource.type().version(), subresource.kind(), Optional.empty())
                : kind(subresource.group(), subresource.version(), subresource.kind(), Optional.empty());
    }

    /** A reference to the schema of delete options. */
    JsonObject deleteOptions() {
        return kind("", "v1", "DeleteOptions", Optional.empty());
    }

    /** A reference to the schema of a Status. */
    JsonObject status() {
        return kind("", MessageTypes.status(), "Status", "v1", Optional.empty());
    }

    static final String GVK = "x-kubernetes-group-version-kind";

    private static final String PATCH_STRATEGY = "x-kubernetes-patch-strategy";

    private static final String MAP_TYPE = "x-kubernetes-map-type";

    private JsonObject kind(String group, String version, String kind, Optional<Schema> schema) {
        String apiVersion = group.isEmpty() ? version : group + "/" + version;
        Optional<Descriptor> descriptor = MessageTypes.descriptor(apiVersion, kind);
        if (descriptor.isPresent()) {
            return kind(group, descriptor.get(), kind, version, schema);
        }
        String name = "io.nodekeeper." + kind;
        made.put(
                name,
                object("An object of the kind " + kind + ".", typeMeta())
                        .with("x-kubernetes-preserve-unknown-fields", JsonBool.TRUE)
                        .with(GVK, JsonArray.of(Discovery.kind(group, version, kind))));
        return reference(name);
    }

    private JsonObject kind(String group, Descriptor descriptor, String kind, String version, Optional<Schema> schema) {
        String name = name(descriptor);
        if (!made.containsKey(name) || !made.get(name).has(GVK)) {
            made.put(name, JsonObject.EMPTY);
            LinkedHashMap<String, JsonValue> properties = typeMeta();
            properties.putAll(properties(descriptor, schema));
            made.put(
                    name,
                    object(OpenApiTexts.of(descriptor).orElse(""), properties)
                            .with(GVK, JsonArray.of(Discovery.kind(group, version, kind))));
        }
        return reference(name);
    }

    private static LinkedHashMap<String, JsonValue> typeMeta() {
        LinkedHashMap<String, JsonValue> properties = new LinkedHashMap<>();
        properties.put("apiVersion", scalar("string", "").with("description", "The version of the object's schema."));
        properties.put("kind", scalar("string", "").with("description", "The kind of the object, such as Node."));
        return properties;
    }

    private JsonObject object(String description, Map<String, JsonValue> properties) {
        return JsonObject.builder()
                .putUnlessEmpty("description", description)
                .put("type", "object")
                .put("properties", JsonObject.copyOf(properties))
                .build();
    }

    private Map<String, JsonValue> properties(Descriptor type, Optional<Schema> schema) {
        Map<String, JsonValue> properties = new LinkedHashMap<>();
        for (FieldDescriptor field : type.getFields()) {
            if (FieldNames.isInlined(field)) {
                properties.putAll(properties(field.getMessageType(), schema));
            } else {
                String name = FieldNames.json(field);
                properties.put(name, property(field, schema.flatMap(known -> known.field(name))));
            }
        }
        return properties;
    }

    private JsonObject property(FieldDescriptor field, Optional<Schema> schema) {
        JsonObject value;
        if (field.isMapField()) {
            value = JsonObject.builder()
                    .put("type", "object")
                    .put("additionalProperties", value(field.getMessageType().findFieldByNumber(2), Optional.empty()))
                    .putUnlessEmpty(MAP_TYPE, AtomicTypes.isAtomic(field) ? "atomic" : "")
                    .build();
        } else if (field.isRepeated()) {
            value = array(value(field, schema.map(known -> known instanceof Schema.ListOf list ? list.item() : known)));
            if (schema.isPresent() && schema.get() instanceof Schema.ListOf list) {
                value = merged(value, list);
            }
        } else {
            value = value(field, schema);
        }
        JsonObject.Builder notes = JsonObject.builder();
        if (AtomicTypes.isMerged(field)) {
            notes.put(MAP_TYPE, "granular");
        }
        if (schema.isPresent() && schema.get() instanceof Schema.Fields fields) {
            notes.putUnlessEmpty(PATCH_STRATEGY, fields.strategy().text());
        }
        OpenApiTexts.of(field).ifPresent(text -> notes.put("description", text));
        return noted(value, notes.build());
    }

    private JsonObject noted(JsonObject value, JsonObject notes) {
        // In version 3 a reference cannot have other fields.
        JsonObject.Builder noted = value.has("$ref") && !second && !notes.isEmpty()
                ? JsonObject.builder().put("allOf", JsonArray.of(value))
                : value.toBuilder();
        notes.fields().forEach(noted::put);
        return noted.build();
    }

    private static JsonObject merged(JsonObject list, Schema.ListOf schema) {
        if (schema.mergeKey().isEmpty() && !schema.set()) {
            return list.with("x-kubernetes-list-type", "atomic");
        }
        String strategy =
                schema.item() instanceof Schema.Fields item && item.strategy() == Schema.PatchStrategy.RETAIN_KEYS
                        ? "merge," + item.strategy().text()
                        : "merge";
        JsonObject merged = list.with(PATCH_STRATEGY, strategy);
        return schema.mergeKey().isEmpty() ? merged : merged.with("x-kubernetes-patch-merge-key", schema.mergeKey());
    }

    private JsonObject value(FieldDescriptor field, Optional<Schema> schema) {
        return switch (field.getType()) {
            case MESSAGE -> message(field.getMessageType(), schema);
            case BOOL -> scalar("boolean", "");
            case INT32, UINT32 -> scalar("integer", "int32");
            case INT64 -> scalar("integer", "int64");
            case DOUBLE -> scalar("number", "double");
            case BYTES -> scalar("string", "byte");
            default -> scalar("string", "");
        };
    }

    private JsonObject message(Descriptor type, Optional<Schema> schema) {
        if (type.getName().equals("ExtraValue")) {
            return array(scalar("string", ""));
        }
        String name = name(type);
        if (!made.containsKey(name)) {
            // Marked as created before its fields are processed, because messages may be recursive.
            made.put(name, JsonObject.EMPTY);
            made.put(name, shape(type, schema));
        }
        return reference(name);
    }

    private JsonObject shape(Descriptor type, Optional<Schema> schema) {
        return switch (type.getName()) {
            case "Time", "MicroTime", "Timestamp" ->
                scalar("string", "date-time").with("description", "A time in the form of RFC 3339.");
            case "Quantity" -> either("", "string", "number").with("description", "An amount, such as 100m or 16Gi.");
            case "IntOrString" ->
                either("int-or-string", "integer", "string").with("description", "A number or a name.");
            case "FieldsV1", "RawExtension" -> scalar("object", "");
            default -> {
                JsonObject shape = object(OpenApiTexts.of(type).orElse(""), properties(type, schema));
                yield AtomicTypes.isAtomic(type) ? shape.with(MAP_TYPE, "atomic") : shape;
            }
        };
    }

    private JsonObject either(String format, String first, String other) {
        if (second) {
            return scalar("string", format);
        }
        List<JsonValue> types = new ArrayList<>(List.of(scalar(first, ""), scalar(other, "")));
        return JsonObject.builder()
                .put("oneOf", new JsonArray(types))
                .putUnlessEmpty("format", format)
                .build();
    }

    private static JsonObject scalar(String type, String format) {
        return JsonObject.builder()
                .put("type", type)
                .putUnlessEmpty("format", format)
                .build();
    }

    private static JsonObject array(JsonObject items) {
        return JsonObject.builder().put("type", "array").put("items", items).build();
    }

    private JsonObject reference(String name) {
        return JsonObject.builder()
                .put("$ref", (second ? "#/definitions/" : "#/components/schemas/") + name)
                .build();
    }

    /** Kubernetes' name of a type begins with its reversed domain. */
    private static String name(Descriptor type) {
        return type.getFullName().replaceFirst("^k8s\\.io\\.", "io.k8s.");
    }
}
