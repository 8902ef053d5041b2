package io.nodekeeper.apiserver.discovery;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.discovery.Discovery.GroupVersion;
import io.nodekeeper.apiserver.negotiation.Accept;
import io.nodekeeper.apiserver.negotiation.EntityTags;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.wire.Gnostic;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Serves the API's OpenAPI documents, created from the catalogue and Kubernetes' message types: version 3 with a
 * document for each group version, version 2 in one document, as JSON or in the protobuf form that kubectl requests.
 * Created at the first request, and cached. Thread-safe.
 */
public final class OpenApi {
    private static final String ROOT = "/openapi/v3";
    private static final String V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

    /** The older media type, with characters that newer media types must not have; all kubectl versions send it. */
    private static final String V2_PROTOBUF_OLD = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

    /** A document and its tag. */
    private record Document(byte[] bytes, String tag) {}

    private final Map<String, Document> made = new ConcurrentHashMap<>();

    /** Whether the path is an OpenAPI path. */
    public static boolean covers(String path) {
        return path.startsWith("/openapi/");
    }

    /** The requested document, if it is an OpenAPI document. */
    public Optional<ApiResponse> answer(ApiRequest request) {
        String path = request.path();
        String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        if (plain.equals("/openapi/v2")) {
            return Optional.of(second(request));
        }
        if (plain.equals(ROOT)) {
            checkJson(request);
            return Optional.of(tagged(request, document(plain, () -> Json.writeBytes(index())), ApiResponse.JSON));
        }
        return Discovery.groupVersions().stream()
                .filter(groupVersion -> plain.equals(ROOT + groupVersion.path()))
                .findFirst()
                .map(groupVersion -> third(request, groupVersion));
    }

    private ApiResponse third(ApiRequest request, GroupVersion groupVersion) {
        checkJson(request);
        Document document = document(groupVersion);
        if (!request.parameter("hash").equals(document.tag)) {
            return tagged(request, document, ApiResponse.JSON);
        }
        // Content with its hash in the URL never changes, so it can be cached without limit.
        return EntityTags.answer(
                request,
                document.bytes,
                document.tag,
                Map.of("content-type", ApiResponse.JSON, "vary", "Accept", "cache-control", "public, immutable"));
    }

    private ApiResponse second(ApiRequest request) {
        for (Accept range : Accept.ranges(request.header("accept"))) {
            if (range.type().equals(V2_PROTOBUF) || range.type().equals(V2_PROTOBUF_OLD)) {
                return tagged(request, document(V2_PROTOBUF, () -> Gnostic.document(all())), V2_PROTOBUF);
            }
            if (range.takes(ApiResponse.JSON)) {
                return tagged(request, document("/openapi/v2", () -> Json.writeBytes(all())), ApiResponse.JSON);
            }
        }
        throw Media.notAcceptable();
    }

    private static void checkJson(ApiRequest request) {
        if (Accept.ranges(request.header("accept")).stream().noneMatch(range -> range.takes(ApiResponse.JSON))) {
            throw Media.notAcceptable();
        }
    }

    private static ApiResponse tagged(ApiRequest request, Document document, String contentType) {
        return EntityTags.answer(
                request, document.bytes, document.tag, Map.of("content-type", contentType, "vary", "Accept"));
    }

    private JsonObject index() {
        JsonObject.Builder paths = JsonObject.builder();
        for (GroupVersion groupVersion : Discovery.groupVersions()) {
            String path = groupVersion.path();
            paths.put(
                    path.substring(1),
                    JsonObject.builder()
                            .put("serverRelativeURL", ROOT + path + "?hash=" + document(groupVersion).tag)
                            .build());
        }
        return JsonObject.builder().put("paths", paths.build()).build();
    }

    private Document document(GroupVersion groupVersion) {
        return document(groupVersion.path(), () -> Json.writeBytes(one(groupVersion)));
    }

    private Document document(String name, Supplier<byte[]> content) {
        // Not computeIfAbsent, because creating the index creates the others.
        Document known = made.get(name);
        if (known == null) {
            byte[] bytes = content.get();
            known = new Document(bytes, EntityTags.tag(bytes));
            made.put(name, known);
        }
        return known;
    }

    private static JsonObject one(GroupVersion groupVersion) {
        OpenApiSchemas schemas = new OpenApiSchemas(false);
        JsonObject paths = new OpenApiPaths(schemas, false).of(List.of(groupVersion));
        return JsonObject.builder()
                .put("openapi", "3.0.0")
                .put("info", info())
                .put("paths", paths)
                .put(
                        "components",
                        JsonObject.builder().put("schemas", schemas.all()).build())
                .build();
    }

    private static JsonObject all() {
        OpenApiSchemas schemas = new OpenApiSchemas(true);
        JsonObject paths = new OpenApiPaths(schemas, true).of(Discovery.groupVersions());
        return JsonObject.builder()
                .put("swagger", "2.0")
                .put("info", info())
                .put("paths", paths)
                .put("definitions", schemas.all())
                .build();
    }

    private static JsonObject info() {
        return JsonObject.builder()
                .put("title", "Kubernetes")
                .put("version", Discovery.version().text("gitVersion"))
                .build();
    }
}
