package io.nodekeeper.client.pages;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.nio.charset.StandardCharsets;

/**
 * An HTTP response.
 *
 * @param status the HTTP status
 * @param type the content type
 * @param body the content; must not be changed
 */
public record Page(int status, String type, byte[] body) {

    /** Plain text. */
    public static Page text(int status, String text) {
        return new Page(status, "text/plain; charset=utf-8", (text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** JSON for people and programs, with status 200. */
    public static Page json(JsonObject json) {
        return new Page(200, "application/json", (Json.writePretty(json) + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
