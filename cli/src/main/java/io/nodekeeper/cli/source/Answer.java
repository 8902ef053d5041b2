package io.nodekeeper.cli.source;

import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;

/**
 * A page of the controller.
 *
 * @param from who answered, for people
 * @param page the page; empty if the controller knows nothing of what was asked for
 */
public record Answer(String from, Optional<JsonObject> page) {

    /** Why this controller does nothing, such as that another one leads; empty if it works. */
    public Optional<String> notWorking() {
        return page.map(json -> json.has("notWorking") ? json : json.object("node"))
                .map(json -> json.text("notWorking"))
                .filter(why -> !why.isEmpty());
    }
}
