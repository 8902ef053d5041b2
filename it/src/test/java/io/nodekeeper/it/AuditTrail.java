package io.nodekeeper.it;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The audit log of an API server.
 *
 * @param file the server's {@code --audit-log-path}
 */
record AuditTrail(Path file) {

    /** The requests of {@code user}, as {@code verb resource/subresource}. */
    List<String> requests(String user) throws IOException {
        return entries(user).stream()
                .filter(entry -> !entry.object("objectRef").text("resource").isEmpty())
                .map(AuditTrail::verb)
                .toList();
    }

    /** Those that were refused for lack of rights. */
    List<String> forbidden(String user) throws IOException {
        return entries(user).stream()
                .filter(entry -> entry.object("responseStatus").number("code").orElse(0L) == 403)
                .map(JsonObject::toString)
                .toList();
    }

    private List<JsonObject> entries(String user) throws IOException {
        String written = Files.readString(file);
        // The last line may be half written.
        return written.substring(0, written.lastIndexOf('\n') + 1)
                .lines()
                .map(Json::parseObject)
                .filter(entry -> entry.object("user").text("username").equals(user))
                .toList();
    }

    private static String verb(JsonObject entry) {
        JsonObject object = entry.object("objectRef");
        String subresource = object.text("subresource");
        return entry.text("verb") + " " + object.text("resource") + (subresource.isEmpty() ? "" : "/" + subresource);
    }
}
