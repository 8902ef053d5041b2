package io.nodekeeper.apiserver.negotiation;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.wire.Protobuf;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The requested form of the answer.
 * @param form the shown part of the objects
 * @param version the version of {@code meta.k8s.io} of that form; empty for the objects themselves
 * @param include the object part in each row of a table
 * @param encoding how they are written
 */
public record Media(Form form, String version, String include, Encoding encoding) {

    /** The shown part of objects. */
    public enum Form {
        /** All. */
        OBJECT,
        /** Their columns. */
        TABLE,
        /** Their metadata. */
        METADATA
    }

    /** How objects are written. */
    public enum Encoding {
        /** As they are stored. */
        JSON,
        /** Answers other than watches. */
        YAML,
        /** Events of a watch; {@link ProtobufResponses} converts all other answers, refusals among them, at the end. */
        PROTOBUF
    }

    private static final String GROUP = "meta.k8s.io";
    private static final Set<String> VERSIONS = Set.of("v1", "v1beta1");
    /** Whole objects in JSON. */
    public static final Media JSON = new Media(Form.OBJECT, "", "", Encoding.JSON);

    /** The headers of the clients that send most requests. */
    private static final Set<String> PLAIN = Set.of(
            "",
            "application/json",
            "application/json, */*",
            "application/vnd.kubernetes.protobuf,application/json",
            "application/vnd.kubernetes.protobuf, */*",
            "*/*");

    /** Whether the client accepts objects in their stored form. */
    public static boolean isPlain(ApiRequest request) {
        return PLAIN.contains(request.header("accept"));
    }

    /**
     * Chooses the first form of the Accept header that the server supports.
     * @param verb the verb: a list's metadata has another kind than an object's, and a watch has no YAML
     */
    public static Media of(ApiRequest request, String verb) {
        String header = request.header("accept");
        if (PLAIN.contains(header)) {
            return JSON;
        }
        boolean onlyProtobuf = onlyProtobuf(request);
        for (Accept range : Accept.ranges(header)) {
            boolean watch = verb.equals("watch");
            boolean yaml = range.type().equals(Yaml.MEDIA_TYPE) && !watch;
            boolean protobuf = onlyProtobuf && range.type().equals(Protobuf.MEDIA_TYPE);
            if (!yaml && !protobuf && !range.takes(ApiResponse.JSON)) {
                continue;
            }
            Encoding encoding = yaml ? Encoding.YAML : protobuf && watch ? Encoding.PROTOBUF : Encoding.JSON;
            String as = range.parameter("as");
            if (as.isEmpty()) {
                return new Media(Form.OBJECT, "", "", encoding);
            }
            String version = range.parameter("v");
            if (!range.parameter("g").equals(GROUP) || !VERSIONS.contains(version)) {
                continue;
            }
            boolean reads = verb.equals("get") || verb.equals("list") || watch;
            // Kubernetes has no protobuf form of a table.
            if (as.equals("Table") && reads && !protobuf) {
                return new Media(Form.TABLE, version, include(request), encoding);
            }
            if (as.equals(verb.equals("list") ? "PartialObjectMetadataList" : "PartialObjectMetadata")) {
                return new Media(Form.METADATA, version, "", encoding);
            }
        }
        throw notAcceptable();
    }

    /**
     * Whether the client accepts protobuf and no text form. Its answer is created as JSON and converted to protobuf at
     * the end. The events of a WebSocket are always text.
     */
    public static boolean onlyProtobuf(ApiRequest request) {
        String header = request.header("accept");
        if (PLAIN.contains(header)
                || !header.contains(Protobuf.MEDIA_TYPE)
                || !request.header("upgrade").isEmpty()) {
            return false;
        }
        boolean protobuf = false;
        for (Accept range : Accept.ranges(header)) {
            if (range.takes(ApiResponse.JSON) || range.type().equals(Yaml.MEDIA_TYPE)) {
                return false;
            }
            protobuf |= range.type().equals(Protobuf.MEDIA_TYPE);
        }
        return protobuf;
    }

    /** The refusal of a client that accepts none of the supported forms. */
    public static ApiException notAcceptable() {
        return new ApiException(
                406,
                "NotAcceptable",
                "only the following media types are accepted: application/json, application/yaml,"
                        + " application/vnd.kubernetes.protobuf");
    }

    private static String include(ApiRequest request) {
        String include = request.parameter("includeObject");
        return switch (include) {
            case "", "Metadata" -> "Metadata";
            case "None", "Object" -> include;
            default ->
                throw ApiException.badRequest("includeObject: Unsupported value: \"" + include
                        + "\": supported values: \"None\", \"Metadata\", \"Object\"");
        };
    }

    public boolean yaml() {
        return encoding == Encoding.YAML;
    }

    public boolean protobuf() {
        return encoding == Encoding.PROTOBUF;
    }

    public boolean table() {
        return form == Form.TABLE;
    }

    public boolean metadata() {
        return form == Form.METADATA;
    }

    /** Whether objects are shown completely. */
    public boolean whole() {
        return form == Form.OBJECT;
    }

    /** The {@code apiVersion} of a table, or of an object with only its metadata. */
    public String apiVersion() {
        return GROUP + "/" + version;
    }

    /** The metadata of {@code object} as a separate object. */
    public JsonObject metadataOf(JsonObject object) {
        return JsonObject.builder()
                .put("kind", "PartialObjectMetadata")
                .put("apiVersion", apiVersion())
                .put("metadata", object.object("metadata"))
                .build();
    }

    /** The metadata of {@code objects} as a list with {@code metadata}. */
    public JsonObject metadataOf(List<JsonObject> objects, JsonObject metadata) {
        return JsonObject.builder()
                .put("kind", "PartialObjectMetadataList")
                .put("apiVersion", apiVersion())
                .put("metadata", metadata)
                .put(
                        "items",
                        new JsonArray(objects.stream()
                                .<JsonValue>map(this::metadataOf)
                                .toList()))
                .build();
    }

    /** The answer to a write, with the object in this form. */
    public ApiResponse written(ApiResponse response) {
        if (!metadata() || !(response instanceof ApiResponse.Full full) || full.status() >= 300) {
            return response;
        }
        JsonObject whole = Json.parseObject(full.body());
        return whole.text("kind").equals("Status")
                ? response
                : new ApiResponse.Full(full.status(), full.headers(), Json.writeBytes(metadataOf(whole)));
    }

    /** The answer in the client's encoding. */
    public ApiResponse encoded(ApiResponse response) {
        if (yaml() && response instanceof ApiResponse.Chunked large) {
            // JSON is also YAML, and can be created in chunks.
            Map<String, String> headers = new HashMap<>(large.headers());
            headers.put("content-type", Yaml.MEDIA_TYPE);
            return new ApiResponse.Chunked(large.status(), headers, large.chunks());
        }
        if (!yaml() || !(response instanceof ApiResponse.Full full)) {
            return response;
        }
        Map<String, String> headers = new HashMap<>(full.headers());
        if (!ApiResponse.JSON.equals(headers.put("content-type", Yaml.MEDIA_TYPE))) {
            return response;
        }
        return new ApiResponse.Full(full.status(), headers, Yaml.write(Json.parse(full.body())));
    }
}
