package io.nodekeeper.apiserver;

import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonString;
import io.nodekeeper.api.JsonValue;
import io.nodekeeper.api.ResourceType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Tells clients what there is: the documents below {@code /api}, {@code /apis} and {@code /version}. */
final class Discovery {
    private Discovery() {}

    /** The document at {@code path}, if it is one of these. */
    static Optional<JsonObject> document(String path, String serverAddress) {
        String plain = path.endsWith("/") && path.length() > 1 ? path.substring(0, path.length() - 1) : path;
        return switch (plain) {
            case "/" -> Optional.of(index());
            case "/version" -> Optional.of(version());
            case "/api" -> Optional.of(coreVersions(serverAddress));
            case "/apis" -> Optional.of(groups());
            case "/api/v1" -> Optional.of(resources("", "v1"));
            default -> group(plain);
        };
    }

    /** The version of the API that the server follows. */
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

    private static JsonObject index() {
        List<String> paths = new ArrayList<>(List.of("/api", "/api/v1", "/apis"));
        groupNames().forEach(group -> {
            paths.add("/apis/" + group);
            paths.add("/apis/" + group + "/v1");
        });
        paths.addAll(List.of("/healthz", "/livez", "/metrics", "/readyz", "/version"));
        return JsonObject.builder().put("paths", JsonArray.ofStrings(paths)).build();
    }

    private static JsonObject coreVersions(String serverAddress) {
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
                .put(
                        "groups",
                        new JsonArray(groupNames().stream()
                                .<JsonValue>map(Discovery::groupEntry)
                                .toList()))
                .build();
    }

    private static Optional<JsonObject> group(String path) {
        for (String group : groupNames()) {
            if (path.equals("/apis/" + group)) {
                return Optional.of(
                        JsonObject.builder().put("kind", "APIGroup").put("apiVersion", "v1").build().toBuilder()
                                .put("name", group)
                                .put("versions", groupEntry(group).array("versions"))
                                .put("preferredVersion", groupEntry(group).object("preferredVersion"))
                                .build());
            }
            if (path.equals("/apis/" + group + "/v1")) {
                return Optional.of(resources(group, "v1"));
            }
        }
        return Optional.empty();
    }

    private static JsonObject groupEntry(String group) {
        JsonObject version = JsonObject.builder()
                .put("groupVersion", group + "/v1")
                .put("version", "v1")
                .build();
        return JsonObject.builder()
                .put("name", group)
                .put("versions", JsonArray.of(version))
                .put("preferredVersion", version)
                .build();
    }

    private static JsonObject resources(String group, String version) {
        List<JsonValue> entries = new ArrayList<>();
        for (Resource resource : Resources.ALL) {
            ResourceType type = resource.type();
            if (!type.group().equals(group)) {
                continue;
            }
            entries.add(entry(type, type.plural(), type.kind().toLowerCase(Locale.ROOT), resource));
            for (Subresource subresource : resource.subresources()) {
                entries.add(entry(type, subresource));
            }
        }
        return JsonObject.builder()
                .put("kind", "APIResourceList")
                .put("apiVersion", "v1")
                .put("groupVersion", group.isEmpty() ? version : group + "/" + version)
                .put("resources", new JsonArray(entries))
                .build();
    }

    private static JsonObject entry(ResourceType type, String name, String singular, Resource resource) {
        JsonObject.Builder entry = JsonObject.builder()
                .put("name", name)
                .put("singularName", singular)
                .put("namespaced", type.namespaced())
                .put("kind", type.kind())
                .put("verbs", JsonArray.ofStrings(resource.verbs()));
        if (!resource.shortNames().isEmpty()) {
            entry.put("shortNames", JsonArray.ofStrings(resource.shortNames()));
        }
        if (!resource.categories().isEmpty()) {
            entry.put("categories", JsonArray.ofStrings(resource.categories()));
        }
        return entry.build();
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

    private static List<String> groupNames() {
        return Resources.ALL.stream()
                .map(resource -> resource.type().group())
                .filter(group -> !group.isEmpty())
                .distinct()
                .toList();
    }
}
