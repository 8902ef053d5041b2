package io.nodekeeper.cli.why;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.history.Decision;
import java.util.List;

/**
 * What is known of one node.
 *
 * @param node its name, or the requested UID
 * @param source the source of this information, for people
 * @param notes what to know about the source, for people
 * @param facts the node's current state, by name; empty if unknown
 * @param decisions the decisions about it, newest last
 */
record Story(String node, String source, List<String> notes, JsonObject facts, List<Decision> decisions) {

    /** Whether nothing is known of the node. */
    boolean isEmpty() {
        return facts.isEmpty() && decisions.isEmpty();
    }

    /** The story as JSON. */
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
