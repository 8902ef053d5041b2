package io.nodekeeper.cli.why;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.history.Decision;
import java.util.List;

/**
 * What is known of one node.
 *
 * @param node its name, or the UID that was asked for
 * @param source where this is from, for people
 * @param notes what to know about the source, for people
 * @param facts how the node is now, by name; empty if that is not known
 * @param decisions what became of it, newest last
 */
record Story(String node, String source, List<String> notes, JsonObject facts, List<Decision> decisions) {

    /** Whether nothing is known. */
    boolean isEmpty() {
        return facts.isEmpty() && decisions.isEmpty();
    }

    /** For programs. */
    JsonObject json() {
        return JsonObject.builder()
                .put("name", node)
                .put("source", source)
                .put("notes", JsonArray.ofStrings(notes))
                .put("node", facts)
                .put(
                        "decisions",
                        new JsonArray(decisions.stream()
                                .<JsonValue>map(Decision::json)
                                .toList()))
                .build();
    }
}
