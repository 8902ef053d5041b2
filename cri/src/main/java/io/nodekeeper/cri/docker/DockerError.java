package io.nodekeeper.cri.docker;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeCallException.Code;
import java.io.IOException;
import java.nio.file.Path;

/** Converts what went wrong to the errors of the port. */
final class DockerError {
    /** The most characters of a daemon's message: an error of runc can quote its whole log. */
    private static final int LONGEST = 2_000;

    private DockerError() {}

    /** The object in a successful answer; throws {@link RuntimeCallException} if the daemon refused the request. */
    static JsonObject object(String method, HttpReply reply) throws IOException {
        if (value(method, reply) instanceof JsonObject object) {
            return object;
        }
        throw new UnreadableException("a JSON object was expected, got " + UnreadableException.quote(reply.text()));
    }

    /** The JSON in a successful answer; throws {@link RuntimeCallException} if the daemon refused the request. */
    static JsonValue value(String method, HttpReply reply) throws IOException {
        check(method, reply);
        try {
            return Json.parse(reply.body());
        } catch (JsonException e) {
            throw new UnreadableException(
                    "JSON was expected, got " + UnreadableException.quote(reply.text()) + ": " + e.getMessage());
        }
    }

    /** Throws {@link RuntimeCallException} if the daemon refused the request. */
    static void check(String method, HttpReply reply) {
        if (reply.status() >= 300) {
            String message = message(reply);
            throw new RuntimeCallException(method, code(reply.status()), message);
        }
    }

    private static Code code(int status) {
        return switch (status) {
            case 404 -> Code.NOT_FOUND;
            case 405, 501 -> Code.UNIMPLEMENTED;
            // Of the daemon itself, which answers for others, such as a volume plugin.
            case 504 -> Code.DEADLINE_EXCEEDED;
            default -> Code.OTHER;
        };
    }

    private static String message(HttpReply reply) {
        String text = reply.text().strip();
        try {
            if (Json.parse(reply.body()) instanceof JsonObject object
                    && !object.text("message").isEmpty()) {
                text = object.text("message");
            }
        } catch (JsonException e) {
            // A proxy in between answers in text or HTML.
            text = UnreadableException.quote(text);
        }
        text = text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text;
        return "Docker answered with status " + reply.status() + (text.isEmpty() ? "" : ": " + text);
    }

    /** The error of a call of {@code method} that failed with {@code error}. */
    static RuntimeCallException of(String method, Path socket, Exception error) {
        return switch (error) {
            case RuntimeCallException refused -> refused;
            case UnreadableException unreadable -> new RuntimeCallException(method, Code.UNREADABLE, text(unreadable));
            case IllegalArgumentException invalid -> new RuntimeCallException(method, Code.UNREADABLE, text(invalid));
            case IOException broken ->
                new RuntimeCallException(method, Code.UNAVAILABLE, "runtime at " + socket + ": " + text(broken));
            default -> new RuntimeCallException(method, Code.OTHER, error.toString());
        };
    }

    private static String text(Exception error) {
        return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
    }
}
