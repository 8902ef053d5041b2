package io.nodekeeper.apiserver.discovery;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.negotiation.Accept;
import io.nodekeeper.apiserver.negotiation.EntityTags;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Subresource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/** Serves discovery: the documents below {@code /api}, {@code /apis} and {@code /version}. Immutable. */
public final class Discovery {
    private static final String AGGREGATED = "APIGroupDiscoveryList";
    private static final String AGGREGATED_GROUP = "apidiscovery.k8s.io";
    private static final List<String> AGGREGATED_VERSIONS = List.of("v2", "v2beta1");

    private final String serverAddress;

    /** Discovery with {@code serverAddress}, host and port, as the address for clients. */
    public Discovery(String serverAddress) {
        this.serverAddress = serverAddress;
    }

    /** A version of a group, such as {@code coordination.k8s.io/v1}; the core group has no name. */
    record GroupVersion(String group, String version) {
        String path() {
            return group.isEmpty() ? "/api/" + version : "/apis/" + group + "/" + version;
        }

        @Override
        public String toString() {
            return group.isEmpty() ? version : group + "/" + version;
        }
    }

    /** The requested document, if it is a discovery document. */
    public Optional<ApiResponse> answer(ApiRequest request) {
        String path = request.path();
        String plain = path.endsWith("/") && path.length() > 1 ? path.substring(0, path.length() - 1) : path;
        return switch (plain) {
            case "/" -> Optional.of(ApiResponse.json(200, index()));
            case "/version" -> Optional.of(ApiResponse.json(200, version()));
            case "/api" -> Optional.of(negotiated(request, true));
            case "/apis" -> Optional.of(negotiated(request, false));
            default -> group(plain).map(document -> ApiResponse.json(200, document));
        };
    }

    /** The Kubernetes version of the server's API. */
    static JsonObject version() {
        return JsonObject.builder()
                .put("major", "1")
                .put("minor", "32")
                .put("gitVersion", "v1.32.0+nodekeeper")
                .put("gitCommit", "")
                .put("gitTreeState", "clean")
                .put("buildDate", "2026-11-21T00:00:00Z")
                .put("goVersion", "none")
                .put("compiler", "javac")
                .put("platform", "linux/" + (System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64"))
                .build();
    }

    /** The aggregated document or only the groups' names, whichever the client prefers. */
    private ApiResponse negotiated(ApiRequest request, boolean core) {
        for (Accept range : Accept.ranges(request.header("accept"))) {
            if (!range.takes(ApiResponse.JSON)) {
                continue;
            }
            String as = range.parameter("as");
            String version = range.parameter("v");
            if (as.isEmpty()) {
                return ApiResponse.json(200, core ? coreVersions() : groups());
            }
            if (as.equals(AGGREGATED)
                    && range.parameter("g").equals(AGGREGATED_GROUP)
                    && AGGREGATED_VERSIONS.contains(version)) {
                return EntityTags.answer(
                        request,
                        Json.writeBytes(aggregated(core, version)),
                        Map.of(
                                "content-type",
                                ApiResponse.JSON + ";g=" + AGGREGATED_GROUP + ";v=" + version + ";as=" + AGGREGATED,
                                "vary",
                                "Accept"));
            }
        }
        throw Media.notAcceptable();
    }

    private static JsonObject index() {
        List<String> paths = new ArrayList<>(List.of("/api", "/apis"));
        groupNames().forEach(group -> paths.add("/apis/" + group));
        groupVersions().forEach(groupVersion -> paths.add(groupVersion.path()));
        paths.addAll(List.of("/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"));
        return JsonObject.builder()
                .put("paths", JsonArray.ofStrings(paths.stream().sorted().toList()))
                .build();
    }

    private JsonObject coreVersions() {
        return JsonObject.builder()
                .put("kind", "APIVersions")
                .put("versions", JsonArray.of(new JsonString("v1")))
                .put(
                        "serverAddressByClientCIDRs",
                        JsonArray.of(JsonObject.builder()
                                .put("clientCIDR", "0.0.0.0/0")
                                .put("serverAddress", serverAddress)
                                .build()))
                .build();
    }

    private static JsonObject groups() {
        return JsonObject.builder()
                .put("kind", "APIGroupList")
                .put("apiVersion", "v1")
                .put("groups", array(groupNames(), Discovery::groupEntry))
                .build();
    }

    private static Optional<JsonObject> group(String path) {
        for (String group : groupNames()) {
            if (path.equals("/apis/" + group)) {
                JsonObject.Builder document =
                        JsonObject.builder().put("kind", "APIGroup").put("apiVersion", "v1");
                groupEntry(group).fields().forEach(document::put);
                return Optional.of(document.build());
            }
        }
        return groupVersions().stream()
                .filter(groupVersion -> groupVersion.path().equals(path))
                .findFirst()
                .map(Discovery::resources);
    }

    private static JsonObject groupEntry(String group) {
        JsonArray versions = array(
                groupVersions().stream().filter(one -> one.group.equals(group)).toList(),
                one -> JsonObject.builder()
                        .put("groupVersion", one.toString())
                        .put("version", one.version)
                        .build());
        return JsonObject.builder()
                .put("name", group)
                .put("versions", versions)
                .put("preferredVersion", versions.items().getFirst())
                .build();
    }

    private static JsonObject resources(GroupVersion groupVersion) {
        List<JsonValue> entries = new ArrayList<>();
        for (Resource resource : resourcesOf(groupVersion)) {
            entries.add(entry(resource));
            for (Subresource subresource : resource.subresources()) {
                entries.add(entry(resource.type(), subresource));
            }
        }
        return JsonObject.builder()
                .put("kind", "APIResourceList")
                .put("apiVersion", "v1")
                .put("groupVersion", groupVersion.toString())
                .put("resources", new JsonArray(entries))
                .build();
    }

    private static JsonObject entry(Resource resource) {
        ResourceType type = resource.type();
        JsonObject.Builder entry = JsonObject.builder()
                .put("name", type.plural())
                .put("singularName", singular(type))
                .put("namespaced", type.namespaced())
                .put("kind", type.kind())
                .put("verbs", JsonArray.ofStrings(resource.verbs()));
        addNames(entry, resource);
        return entry.build();
    }

    private static void addNames(JsonObject.Builder entry, Resource resource) {
        if (!resource.shortNames().isEmpty()) {
            entry.put("shortNames", JsonArray.ofStrings(resource.shortNames()));
        }
        if (!resource.categories().isEmpty()) {
            entry.put("categories", JsonArray.ofStrings(resource.categories()));
        }
    }

    private static JsonObject entry(ResourceType type, Subresource subresource) {
        return JsonObject.builder()
                .put("name", type.plural() + "/" + subresource.name())
                .put("singularName", "")
                .put("namespaced", type.namespaced())
                .putUnlessEmpty("group", subresource.group())
                .putUnlessEmpty("version", subresource.version())
                .put("kind", subresource.kind())
                .put("verbs", JsonArray.ofStrings(subresource.verbs()))
                .build();
    }

    private static JsonObject aggregated(boolean core, String version) {
        List<String> names = core ? List.of("") : groupNames();
        return JsonObject.builder()
                .put("kind", AGGREGATED)
                .put("apiVersion", AGGREGATED_GROUP + "/" + version)
                .put("metadata", JsonObject.EMPTY)
                .put("items", array(names, Discovery::aggregatedGroup))
                .build();
    }

    private static JsonObject aggregatedGroup(String group) {
        List<GroupVersion> versions =
                groupVersions().stream().filter(one -> one.group.equals(group)).toList();
        return JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder().putUnlessEmpty("name", group).build())
                .put(
                        "versions",
                        array(
                                versions,
                                one -> JsonObject.builder()
                                        .put("version", one.version)
                                        .put("resources", array(resourcesOf(one), Discovery::aggregatedEntry))
                                        .put("freshness", "Current")
                                        .build()))
                .build();
    }

    private static JsonObject aggregatedEntry(Resource resource) {
        ResourceType type = resource.type();
        JsonObject.Builder entry = JsonObject.builder()
                .put("resource", type.plural())
                .put("responseKind", kind(type.group(), type.version(), type.kind()))
                .put("scope", type.namespaced() ? "Namespaced" : "Cluster")
                .put("singularResource", singular(type))
                .put("verbs", JsonArray.ofStrings(resource.verbs()));
        addNames(entry, resource);
        if (!resource.subresources().isEmpty()) {
            entry.put(
                    "subresources",
                    array(
                            resource.subresources(),
                            one -> JsonObject.builder()
                                    .put("subresource", one.name())
                                    .put(
                                            "responseKind",
                                            one.version().isEmpty()
                                                    ? kind(type.group(), type.version(), one.kind())
                                                    : kind(one.group(), one.version(), one.kind()))
                                    .put("verbs", JsonArray.ofStrings(one.verbs()))
                                    .build()));
        }
        return entry.build();
    }

    static JsonObject kind(String group, String version, String kind) {
        return JsonObject.builder()
                .put("group", group)
                .put("version", version)
                .put("kind", kind)
                .build();
    }

    private static String singular(ResourceType type) {
        return type.kind().toLowerCase(Locale.ROOT);
    }

    static List<Resource> resourcesOf(GroupVersion groupVersion) {
        return Resources.ALL.stream()
                .filter(resource -> resource.type().group().equals(groupVersion.group)
                        && resource.type().version().equals(groupVersion.version))
                .toList();
    }

    /** The groups' versions in the order of the catalogue; last those that only a subresource uses. */
    static List<GroupVersion> groupVersions() {
        Set<GroupVersion> found = new LinkedHashSet<>();
        Resources.ALL.forEach(resource -> found.add(
                new GroupVersion(resource.type().group(), resource.type().version())));
        Resources.ALL.stream()
                .flatMap(resource -> resource.subresources().stream())
                .filter(subresource -> !subresource.version().isEmpty())
                .forEach(subresource -> found.add(new GroupVersion(subresource.group(), subresource.version())));
        return List.copyOf(found);
    }

    private static List<String> groupNames() {
        return groupVersions().stream()
                .map(GroupVersion::group)
                .filter(group -> !group.isEmpty())
                .distinct()
                .toList();
    }

    private static <T> JsonArray array(List<T> items, Function<T, JsonObject> entry) {
        Stream<JsonValue> entries = items.stream().map(entry);
        return new JsonArray(entries.toList());
    }
}
