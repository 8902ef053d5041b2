package io.nodekeeper.cli.observe;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cli.output.ShellWord;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Where the reader of a report finds more about a node at a time.
 *
 * @param pages the address of the controller's pages; empty if there are none
 * @param flags the flags of {@code nodekeeper why}
 */
record Links(Optional<URI> pages, List<String> flags) {
    /** The report with a link into the timeline and a command for each verdict. */
    JsonObject in(JsonObject report) {
        return report.with(
                "verdicts",
                new JsonArray(report.array("verdicts")
                        .objects()
                        .<JsonValue>map(this::linked)
                        .toList()));
    }

    private JsonObject linked(JsonObject verdict) {
        String node = verdict.text("node");
        String at = verdict.text("at").replaceFirst("\\.\\d+Z$", "Z");
        JsonObject.Builder json = verdict.toBuilder();
        pages.ifPresent(url -> json.put("timeline", timeline(url, node, at)));
        return json.put("why", why(node, at)).build();
    }

    private static String timeline(URI pages, String node, String at) {
        // A proxy's address has a path before that of the page.
        return pages.toString().replaceFirst("/+$", "") + "/ui/#/node/" + encoded(node) + "?at=" + encoded(at);
    }

    /** As the page decodes it: a plus sign would stay one. */
    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private String why(String node, String at) {
        StringBuilder command = new StringBuilder("nodekeeper why");
        // A name like an option must not be one.
        command.append(' ').append(ShellWord.of(node.startsWith("-") ? "node/" + node : node));
        command.append(" --at ").append(ShellWord.of(at));
        flags.forEach(flag -> command.append(' ').append(ShellWord.of(flag)));
        return command.toString();
    }
}
