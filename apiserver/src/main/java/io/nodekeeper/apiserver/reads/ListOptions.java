package io.nodekeeper.apiserver.reads;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.selector.FieldSelector;
import io.nodekeeper.api.selector.LabelSelector;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.store.Entry;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/**
 * The validated options of a list or watch.
 * @param labels the label selector
 * @param fields the field selector
 * @param limit the most items; 0 for all
 * @param token the continue token
 * @param version the requested resource version: empty, or a number
 * @param match how to interpret it: empty, {@code Exact} or {@code NotOlderThan}
 */
public record ListOptions(
        LabelSelector labels,
        FieldSelector fields,
        int limit,
        Optional<Token> token,
        Optional<Long> version,
        String match) {

    /**
     * The position of the next page of a list.
     * @param revision the revision of all pages; -1 for the latest
     * @param start the key, relative to the list's prefix, after which the next page begins
     */
    record Token(long revision, String start) {
        String encode() {
            JsonObject token = JsonObject.builder()
                    .put("v", "meta.k8s.io/v1")
                    .put("rv", revision)
                    .put("start", start)
                    .build();
            return Base64.getUrlEncoder().withoutPadding().encodeToString(Json.writeBytes(token));
        }

        static Token decode(String text) {
            try {
                JsonObject token =
                        Json.parseObject(Base64.getUrlDecoder().decode(text.getBytes(StandardCharsets.UTF_8)));
                Optional<Long> revision = token.number("rv");
                if (revision.isPresent() && revision.get() != 0 && token.has("start")) {
                    return new Token(revision.get(), token.text("start"));
                }
            } catch (IllegalArgumentException | JsonException e) {
                // Reported below, as for every other invalid token.
            }
            throw ApiException.badRequest("continue key is not valid: \"" + text + "\"");
        }
    }

    /**
     * Which part of a list is asked for.
     * @param after the key after which it begins
     * @param limit the most selected objects; 0 for all
     * @param at the revision; 0 for the latest
     */
    public record Part(String after, int limit, long at) {}

    /** The part of the list of {@code resource} in {@code namespace}, in a store that is at {@code revision}. */
    public Part part(Resource resource, String namespace, long revision) {
        if (token.isPresent()) {
            Token next = token.get();
            if (next.revision() > revision) {
                throw ApiException.badRequest("continue key is not valid: its revision is yet to come");
            }
            return new Part(resource.prefix(namespace) + next.start(), limit, Math.max(0, next.revision()));
        }
        if (version.isEmpty()) {
            return new Part("", limit, 0);
        }
        // A list of any state that is new enough ignores the limit, as in Kubernetes' watch cache.
        return isExact(resource, namespace) ? new Part("", limit, version.get()) : new Part("", 0, 0);
    }

    /** Whether the version is that of the list; pages have one, as in Kubernetes, unless the request says what it means. */
    private boolean isExact(Resource resource, String namespace) {
        boolean pages =
                limit > 0 && version.orElse(0L) > 0 && key(resource, namespace).isEmpty();
        return match.equals("Exact") || (match.isEmpty() && pages);
    }

    /** The refusal of a list whose revision the history no longer has. */
    public ApiException tooOld() {
        if (token.isEmpty()) {
            return new ApiException(410, "Expired", "The resourceVersion for the provided list is too old.");
        }
        JsonObject metadata = JsonObject.builder()
                .put("continue", new Token(-1, token.get().start()).encode())
                .build();
        String text =
                "The provided continue parameter is too old to display a consistent list result. You can start a new"
                        + " list without the continue parameter, or use the continue token in this response to retrieve the"
                        + " remainder of the results. Continuing with the provided token results in an inconsistent list - objects"
                        + " that were created, modified, or deleted between the time the first chunk was returned and now may show"
                        + " up in the list.";
        return new ApiException(410, "Expired", text) {
            @Override
            public JsonObject toStatus() {
                return super.toStatus().with("metadata", metadata);
            }
        };
    }

    /** The refusal of a list at a {@code revision} that a store at {@code current} has not reached. */
    public static ApiException tooNew(long revision, long current) {
        JsonObject cause = JsonObject.builder()
                .put("reason", "ResourceVersionTooLarge")
                .put("message", "Too large resource version")
                .build();
        return new ApiException(
                504,
                "Timeout",
                "Timeout: Too large resource version: " + revision + ", current: " + current,
                JsonObject.builder()
                        .put("causes", JsonArray.of(cause))
                        .put("retryAfterSeconds", 1)
                        .build());
    }

    public static ListOptions of(Resource resource, ApiRequest request) {
        FieldSelector fields = FieldSelector.parse(request.parameter("fieldSelector"));
        resource.checkFields(fields);
        String token = request.parameter("continue");
        Optional<Long> version = number("resourceVersion", request.parameter("resourceVersion"));
        String match = request.parameter("resourceVersionMatch");
        boolean initialEvents = request.hasParameter("sendInitialEvents");
        if (!match.isEmpty() && !match.equals("Exact") && !match.equals("NotOlderThan")) {
            throw invalid("resourceVersionMatch: Unsupported value: \"" + match
                    + "\": supported values: \"Exact\", \"NotOlderThan\"");
        }
        if (!match.isEmpty() && version.isEmpty() && !initialEvents) {
            throw invalid("resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is"
                    + " provided");
        }
        if (match.equals("Exact") && version.equals(Optional.of(0L))) {
            throw invalid("resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for"
                    + " resourceVersion \"0\"");
        }
        if (!token.isEmpty() && version.orElse(0L) != 0) {
            throw ApiException.badRequest("specifying resource version is not allowed when using continue");
        }
        return new ListOptions(
                LabelSelector.parse(request.parameter("labelSelector")),
                fields,
                number("limit", request.parameter("limit"))
                        .map(limit -> (int) Math.min(limit, Integer.MAX_VALUE))
                        .orElse(0),
                token.isEmpty() ? Optional.empty() : Optional.of(Token.decode(token)),
                version,
                match);
    }

    /** Whether all objects are selected. */
    public boolean isAll() {
        return labels.isAll() && fields.isAll();
    }

    /** The key of the only object that can be selected, if the selector names it. */
    public Optional<String> key(Resource resource, String namespace) {
        if (resource.type().namespaced() && namespace.isEmpty()) {
            return Optional.empty();
        }
        return fields.required("metadata.name")
                .filter(name -> !name.isEmpty() && !name.contains("/"))
                .map(name -> resource.key(namespace, name));
    }

    /** Whether an object is selected. */
    public boolean matches(Resource resource, JsonObject object) {
        return labels.matches(object.object("metadata").object("labels"))
                && fields.matches(path -> resource.field(object, path));
    }

    public boolean matches(Resource resource, Entry entry) {
        return isAll() || matches(resource, resource.codec().decode(entry));
    }

    public static Optional<Long> number(String parameter, String text) {
        if (text.isEmpty()) {
            return Optional.empty();
        }
        try {
            long value = Long.parseLong(text);
            if (value >= 0) {
                return Optional.of(value);
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw ApiException.badRequest(
                parameter + ": Invalid value: \"" + text + "\": expected a whole number, 0 or more");
    }

    public static ApiException invalid(String why) {
        return new ApiException(422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: " + why);
    }
}
