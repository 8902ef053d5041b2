package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.patch.JsonPatch;
import io.nodekeeper.api.patch.MergePatch;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.apiserver.wire.ProtobufException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Reads the bodies of requests: objects and patches, in the media types of the API. */
public final class RequestBodies {
    private static final String UNKNOWN_TYPE = "the body of the request was in an unknown format - accepted media types"
            + " include: application/json, application/yaml, application/vnd.kubernetes.protobuf";

    /**
     * The most faults in warnings: enough to recognize the cause, and within the size that clients accept for headers.
     */
    private static final int WARNINGS = 50;

    private static final List<String> MODES = List.of("", "Ignore", "Strict", "Warn");

    private RequestBodies() {}

    /** The object in the body; empty if there is no body. Of a repeated field the last one counts. */
    public static JsonObject object(ApiRequest request) {
        return object(request, path -> {});
    }

    /**
     * The object in the body; empty if there is no body.
     *
     * @param faults receives repeated fields, such as {@code duplicate field "spec.taints"}; the last value counts
     */
    public static JsonObject object(ApiRequest request, Consumer<String> faults) {
        if (request.body().length == 0) {
            return JsonObject.EMPTY;
        }
        try {
            return switch (request.contentType()) {
                case "", "application/json" -> json(request.body(), faults);
                case Protobuf.MEDIA_TYPE -> Protobuf.decode(request.body());
                case Yaml.MEDIA_TYPE -> Yaml.parse(request.body(), faults);
                default -> throw new ApiException(415, "UnsupportedMediaType", UNKNOWN_TYPE);
            };
        } catch (JsonException | ProtobufException e) {
            throw ApiException.badRequest("the request body is not valid: " + e.getMessage());
        }
    }

    /**
     * The applied configuration: the fields that an object of {@code resource} should have, in YAML or JSON.
     * @param faults receives repeated fields
     */
    static JsonObject applied(ApiRequest request, Resource resource, Consumer<String> faults) {
        byte[] body = request.body();
        JsonObject applied;
        try {
            applied = body.length > 0 && body[0] == '{' ? json(body, faults) : Yaml.parse(body, faults);
        } catch (JsonException e) {
            throw ApiException.badRequest("the applied object is not valid: " + e.getMessage());
        }
        String version = resource.type().apiVersion();
        if (!applied.text("apiVersion").equals(version)) {
            throw ApiException.badRequest("Incorrect version specified in apply patch. Specified patch version: "
                    + applied.text("apiVersion") + ", expected: " + version);
        }
        if (applied.text("kind").isEmpty()) {
            throw ApiException.badRequest("Object 'Kind' is missing in the applied object");
        }
        if (!applied.object("metadata").array("managedFields").isEmpty()) {
            throw ApiException.badRequest("metadata.managedFields must be nil");
        }
        check(resource, applied, 400);
        return applied;
    }

    /** The object that a client means, as it is stored; without a namespace if objects of {@code resource} have none, as in Kubernetes. */
    public static JsonObject normalized(Resource resource, JsonObject raw) {
        JsonObject object = Codec.normalize(raw, resource.schema());
        return !resource.type().namespaced() && object.object("metadata").has("namespace")
                ? object.update("metadata", metadata -> metadata.without("namespace"))
                : object;
    }

    private static JsonObject json(byte[] body, Consumer<String> faults) {
        return Json.parseBody(body, path -> faults.accept("duplicate field \"" + path + "\""));
    }

    /**
     * The patch in the body, as a function of the object.
     * @param faults receives repeated fields
     */
    static UnaryOperator<JsonObject> patch(ApiRequest request, Schema schema, Consumer<String> faults) {
        String type = request.contentType();
        try {
            return switch (type) {
                case "application/merge-patch+json" -> {
                    JsonObject patch = json(request.body(), faults);
                    yield object -> (JsonObject) MergePatch.apply(object, patch);
                }
                case "application/strategic-merge-patch+json" -> {
                    JsonObject patch = json(request.body(), faults);
                    yield object -> StrategicMergePatch.apply(object, patch, schema);
                }
                case "application/json-patch+json" -> {
                    JsonPatch patch = JsonPatch.of(Json.parseBody(request.body()));
                    yield patch::apply;
                }
                default ->
                    throw new ApiException(
                            415,
                            "UnsupportedMediaType",
                            "the body of the request was in an unknown format - accepted media types include:"
                                    + " application/json-patch+json, application/merge-patch+json,"
                                    + " application/strategic-merge-patch+json, application/apply-patch+yaml");
            };
        } catch (JsonException e) {
            throw ApiException.badRequest("the patch is not valid: " + e.getMessage());
        }
    }

    /**
     * Refuses a changed object that does not have the kind's types, or has more values than a body may have: patches could add as many again
     * and again, and who reads the object needs memory for all.
     */
    static void checkChanged(Resource resource, JsonObject object) {
        check(resource, object, 422);
        if (Json.values(object) > Json.MAX_VALUES) {
            throw new ApiException(
                    413, "RequestEntityTooLarge", "the object would have more than " + Json.MAX_VALUES + " values");
        }
    }

    /** Refuses a body that does not have the kind's types. */
    public static void check(Resource resource, JsonObject object, int code) {
        String kind = object.text("kind");
        String version = object.text("apiVersion");
        Optional<String> fault = resource.schema().mismatch(object);
        String wanted = resource.type().kind();
        if (!kind.isEmpty() && !kind.equals(wanted)) {
            fault = Optional.of("the object provided is a " + kind);
        } else if (!version.isEmpty() && !version.equals(resource.type().apiVersion())) {
            fault = Optional.of(
                    "the API version in the data (" + version + ") does not match the expected API version ("
                            + resource.type().apiVersion() + ")");
        }
        if (fault.isPresent()) {
            String text = (kind.isEmpty() ? wanted : kind) + " in version \""
                    + (version.isEmpty() ? resource.type().apiVersion() : version) + "\" cannot be handled as a "
                    + wanted
                    + ": " + fault.get();
            throw new ApiException(code, code == 422 ? "Invalid" : "BadRequest", text);
        }
    }

    /**
     * The warnings about repeated and unknown fields; refuses them if the request asks for Strict.
     * @param repeated the repeated fields
     * @param known paths to ignore
     */
    public static List<String> strictFaults(
            Resource resource,
            JsonObject object,
            List<String> repeated,
            Set<String> known,
            ApiRequest request,
            int code) {
        String mode = request.parameter("fieldValidation");
        if (!MODES.contains(mode)) {
            throw new ApiException(
                    422,
                    "Invalid",
                    "fieldValidation: Unsupported value: \"" + mode
                            + "\": supported values: \"Ignore\", \"Strict\", \"Warn\"");
        }
        if (mode.equals("Ignore")) {
            return List.of();
        }
        List<String> faults = Stream.concat(
                        repeated.stream(),
                        resource.schema().unknownFields(object).stream()
                                .filter(path -> !known.contains(path))
                                .map(path -> "unknown field \"" + path + "\""))
                .limit(WARNINGS)
                .toList();
        if (!faults.isEmpty() && mode.equals("Strict")) {
            throw new ApiException(
                    code,
                    code == 422 ? "Invalid" : "BadRequest",
                    resource.type().kind() + " in version \"" + resource.type().apiVersion()
                            + "\" cannot be handled as a " + resource.type().kind() + ": strict decoding error: "
                            + String.join(", ", faults));
        }
        return faults;
    }
}
