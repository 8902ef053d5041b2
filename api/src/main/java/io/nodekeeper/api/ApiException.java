package io.nodekeeper.api;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Thrown if the API refuses a request; has the {@code Status} object that the server sends to the client. Immutable.
 */
public class ApiException extends RuntimeException {
    /** The most characters of a message, because a message may quote client input of any length. */
    private static final int MESSAGE = 16 << 10;

    /** The most errors that a refusal of an object names, for the same reason. */
    public static final int ERRORS = 100;

    /** The most characters of a text in {@code details}. */
    private static final int DETAIL = 500;

    private final int code;
    private final String message;
    private final String reason;
    private final JsonObject details;

    /**
     * A refusal.
     *
     * @param code the HTTP status
     * @param reason Kubernetes' reason, such as {@code NotFound}; may be empty
     * @param message for people; cut after 16 Ki characters
     * @param details the {@code details} object; may be empty
     */
    public ApiException(int code, String reason, String message, JsonObject details) {
        super(cut(message, MESSAGE));
        this.code = code;
        this.message = cut(message, MESSAGE);
        this.reason = reason;
        this.details = details;
    }

    /** A refusal without details. */
    public ApiException(int code, String reason, String message) {
        this(code, reason, message, JsonObject.EMPTY);
    }

    /** 400: the request itself is invalid. */
    public static ApiException badRequest(String message) {
        return new ApiException(400, "BadRequest", message);
    }

    /** 403: the user may send such a request, but not with this object. */
    public static ApiException forbidden(ResourceType type, String name, String why) {
        return new ApiException(
                403, "Forbidden", type.qualifiedName() + " \"" + name + "\" is forbidden: " + why, details(type, name));
    }

    /** 404: no such object. */
    public static ApiException notFound(ResourceType type, String name) {
        return new ApiException(
                404, "NotFound", type.qualifiedName() + " \"" + name + "\" not found", details(type, name));
    }

    /** 409: an object of this name exists already. */
    public static ApiException alreadyExists(ResourceType type, String name) {
        return new ApiException(
                409, "AlreadyExists", type.qualifiedName() + " \"" + name + "\" already exists", details(type, name));
    }

    /** 409: the request does not match the current object. */
    public static ApiException conflict(ResourceType type, String name, String why) {
        return new ApiException(
                409,
                "Conflict",
                "Operation cannot be fulfilled on " + type.qualifiedName() + " \"" + name + "\": " + why,
                details(type, name));
    }

    /** 409 for a stale {@code resourceVersion}. */
    public static ApiException modified(ResourceType type, String name) {
        return conflict(
                type,
                name,
                "the object has been modified; please apply your changes to the latest version and try again");
    }

    private static String cut(String text, int most) {
        return text.length() <= most ? text : text.substring(0, most) + "…";
    }

    /** 422: the object breaks the rules of its kind. Names at most the first {@link #ERRORS} errors. */
    public static ApiException invalid(ResourceType type, String name, List<FieldError> found) {
        List<FieldError> errors = found.subList(0, Math.min(found.size(), ERRORS));
        String more = found.size() > ERRORS ? ", and more" : "";
        List<JsonValue> causes = new ArrayList<>();
        for (FieldError error : errors) {
            causes.add(JsonObject.builder()
                    .put("reason", error.reason())
                    .put("message", cut(error.detail(), DETAIL))
                    .put("field", cut(error.field(), DETAIL))
                    .build());
        }
        String text = errors.size() == 1
                ? errors.getFirst().toString()
                : "["
                        + String.join(
                                ", ",
                                errors.stream()
                                        .map(error -> cut(error.toString(), DETAIL))
                                        .toList())
                        + more + "]";
        String kind = type.group().isEmpty() ? type.kind() : type.kind() + "." + type.group();
        return new ApiException(
                422,
                "Invalid",
                kind + " \"" + name + "\" is invalid: " + text,
                JsonObject.builder()
                        .put("name", name)
                        .putUnlessEmpty("group", type.group())
                        .put("kind", type.kind())
                        .put("causes", new JsonArray(causes))
                        .build());
    }

    /** Reads the {@code Status} that a server sent with {@code code}; another body becomes a message that quotes it. */
    public static ApiException fromBody(int code, byte[] body) {
        try {
            JsonObject status = Json.parseObject(body);
            if (status.text("kind").equals("Status")) {
                return fromStatus(code, status);
            }
        } catch (JsonException e) {
            // Not a Status: proxies, and early errors of the server, answer in plain text.
        }
        String text = new String(body, 0, Math.min(body.length, 500), StandardCharsets.UTF_8).strip();
        return new ApiException(code, "", "the server answered " + code + (text.isEmpty() ? "" : ": " + text));
    }

    /** Reads a {@code Status} object; {@code code} is used if it holds none. */
    public static ApiException fromStatus(int code, JsonObject status) {
        return new ApiException(
                status.number("code").map(Long::intValue).orElse(code),
                status.text("reason"),
                status.text("message"),
                status.object("details"));
    }

    /** The HTTP status. */
    public int code() {
        return code;
    }

    @Override
    public String getMessage() {
        return message;
    }

    /** Kubernetes' reason; empty if there is none. */
    public String reason() {
        return reason;
    }

    /** The {@code details} object. */
    public JsonObject details() {
        return details;
    }

    /** The refusal as a {@code Status} object. */
    public JsonObject toStatus() {
        JsonObject.Builder status = JsonObject.builder()
                .put("kind", "Status")
                .put("apiVersion", "v1")
                .put("metadata", JsonObject.EMPTY)
                .put("status", "Failure")
                .put("message", message)
                .putUnlessEmpty("reason", reason);
        // As in Kubernetes, also without anything to say: kubectl debug ends with a panic if it is missing.
        if (!details.isEmpty() || reason.equals("NotFound")) {
            status.put("details", details);
        }
        return status.put("code", code).build();
    }

    private static JsonObject details(ResourceType type, String name) {
        return JsonObject.builder()
                .put("name", name)
                .putUnlessEmpty("group", type.group())
                .put("kind", type.plural())
                .build();
    }
}
