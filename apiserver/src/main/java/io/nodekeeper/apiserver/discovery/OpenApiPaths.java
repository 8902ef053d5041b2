package io.nodekeeper.apiserver.discovery;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.discovery.Discovery.GroupVersion;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Subresource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Creates the paths of an OpenAPI document with their operations. Clients read the supported parameters from them. */
final class OpenApiPaths {
    private static final List<String> BODIES =
            List.of("application/json", Yaml.MEDIA_TYPE, "application/vnd.kubernetes.protobuf");
    private static final List<String> PATCHES = List.of(
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
            "application/apply-patch+yaml");

    private static final List<String> WRITE = List.of("dryRun", "fieldManager", "fieldValidation");
    private static final List<String> PATCH = List.of("dryRun", "fieldManager", "fieldValidation", "force");
    private static final List<String> DELETE =
            List.of("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy");
    private static final List<String> LIST = List.of(
            "allowWatchBookmarks",
            "continue",
            "fieldSelector",
            "labelSelector",
            "limit",
            "resourceVersion",
            "resourceVersionMatch",
            "sendInitialEvents",
            "timeoutSeconds",
            "watch");

    private static final Map<String, String> TYPES = Map.of(
            "allowWatchBookmarks", "boolean",
            "force", "boolean",
            "gracePeriodSeconds", "integer",
            "limit", "integer",
            "orphanDependents", "boolean",
            "sendInitialEvents", "boolean",
            "timeoutSeconds", "integer",
            "watch", "boolean");

    private final OpenApiSchemas schemas;
    private final boolean second;

    /** Paths for version 2 or 3 of OpenAPI, with the schemas in {@code schemas}. */
    OpenApiPaths(OpenApiSchemas schemas, boolean second) {
        this.schemas = schemas;
        this.second = second;
    }

    /** All paths of these group versions. */
    JsonObject of(List<GroupVersion> groupVersions) {
        Map<String, JsonObject> paths = new TreeMap<>();
        for (GroupVersion groupVersion : groupVersions) {
            Discovery.resourcesOf(groupVersion).forEach(resource -> add(paths, resource));
        }
        return JsonObject.copyOf(paths);
    }

    private void add(Map<String, JsonObject> paths, Resource resource) {
        ResourceType type = resource.type();
        String collection = type.path("{namespace}");
        Item many = new Item(resource, false);
        if (type.namespaced() && resource.verbs().contains("list")) {
            Item everywhere = new Item(resource, false);
            everywhere.operation("get", "list", LIST, List.of(), JsonObject.EMPTY, schemas.listOf(resource));
            paths.put(type.path(), everywhere.build(List.of()));
        }
        if (resource.verbs().contains("list")) {
            many.operation("get", "list", LIST, List.of(), JsonObject.EMPTY, schemas.listOf(resource));
        }
        if (resource.verbs().contains("create")) {
            JsonObject object = schemas.of(resource);
            many.operation("post", "post", WRITE, BODIES, object, object);
        }
        if (resource.verbs().contains("deletecollection")) {
            List<String> all = new ArrayList<>(DELETE);
            all.addAll(List.of("fieldSelector", "labelSelector"));
            many.operation("delete", "deletecollection", all, BODIES, schemas.deleteOptions(), schemas.status());
        }
        paths.put(collection, many.build(type.namespaced() ? List.of("namespace") : List.of()));
        List<String> place = type.namespaced() ? List.of("name", "namespace") : List.of("name");
        if (resource.isStored() || resource.verbs().contains("get")) {
            JsonObject one =
                    one(resource, schemas.of(resource), resource.verbs()).build(place);
            paths.put(collection + "/{name}", one);
        }
        for (Subresource subresource : resource.subresources()) {
            JsonObject below = one(resource, schemas.of(resource, subresource), subresource.verbs())
                    .build(place);
            paths.put(collection + "/{name}/" + subresource.name(), below);
        }
    }

    private Item one(Resource resource, JsonObject object, List<String> verbs) {
        Item item = new Item(resource, true);
        if (verbs.contains("get")) {
            item.operation("get", "get", List.of(), List.of(), JsonObject.EMPTY, object);
        }
        if (verbs.contains("update")) {
            item.operation("put", "put", WRITE, BODIES, object, object);
        }
        if (verbs.contains("patch")) {
            JsonObject patch = JsonObject.builder().put("type", "object").build();
            item.operation("patch", "patch", PATCH, PATCHES, patch, object);
        }
        if (verbs.contains("delete")) {
            item.operation("delete", "delete", DELETE, BODIES, schemas.deleteOptions(), schemas.status());
        }
        if (verbs.equals(List.of("create"))) {
            item.operation("post", "post", WRITE, BODIES, object, object);
        }
        return item;
    }

    private JsonObject parameter(String name, String in) {
        JsonObject.Builder parameter = JsonObject.builder().put("name", name).put("in", in);
        if (in.equals("path")) {
            parameter.put("required", true);
        }
        String type = TYPES.getOrDefault(name, "string");
        if (second) {
            return parameter.put("type", type).build();
        }
        return parameter
                .put("schema", JsonObject.builder().put("type", type).build())
                .build();
    }

    /** The operations at one path. */
    private final class Item {
        private final Resource resource;
        private final boolean named;
        private final JsonObject.Builder operations = JsonObject.builder();

        private Item(Resource resource, boolean named) {
            this.resource = resource;
            this.named = named;
        }

        private void operation(
                String method,
                String action,
                List<String> parameters,
                List<String> consumed,
                JsonObject body,
                JsonObject answer) {
            ResourceType type = resource.type();
            List<JsonValue> all = new ArrayList<>();
            parameters.forEach(name -> all.add(parameter(name, "query")));
            JsonObject.Builder operation = JsonObject.builder()
                    .put("description", action + (named ? " the " : " objects of the kind ") + type.kind());
            if (second && !consumed.isEmpty()) {
                all.add(JsonObject.builder()
                        .put("name", "body")
                        .put("in", "body")
                        .put("required", !method.equals("delete"))
                        .put("schema", body)
                        .build());
                operation.put("consumes", JsonArray.ofStrings(consumed));
            } else if (!consumed.isEmpty()) {
                operation.put("requestBody", JsonObject.EMPTY.with("content", content(consumed, body)));
            }
            if (second) {
                operation.put("produces", JsonArray.ofStrings(List.of("application/json", Yaml.MEDIA_TYPE)));
            }
            operations.put(
                    method,
                    operation
                            .put("parameters", new JsonArray(all))
                            .put(
                                    "responses",
                                    JsonObject.builder()
                                            .put("200", response(answer))
                                            .build())
                            .put("x-kubernetes-action", action)
                            .put(OpenApiSchemas.GVK, Discovery.kind(type.group(), type.version(), type.kind()))
                            .build());
        }

        private JsonObject response(JsonObject schema) {
            JsonObject ok = JsonObject.builder().put("description", "OK").build();
            if (second) {
                return ok.with("schema", schema);
            }
            return ok.with("content", content(List.of("application/json", Yaml.MEDIA_TYPE), schema));
        }

        private JsonObject content(List<String> mediaTypes, JsonObject schema) {
            JsonObject.Builder content = JsonObject.builder();
            mediaTypes.forEach(mediaType -> content.put(
                    mediaType, JsonObject.builder().put("schema", schema).build()));
            return content.build();
        }

        private JsonObject build(List<String> place) {
            List<JsonValue> parameters = new ArrayList<>();
            place.forEach(name -> parameters.add(parameter(name, "path")));
            return operations.put("parameters", new JsonArray(parameters)).build();
        }
    }
}
