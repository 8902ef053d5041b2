package io.nodekeeper.controller;

import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Gives access to the state of a running controller. Thread-safe. Results complete on the controller's loop, so a
 * missing result means that the loop hangs.
 */
public interface ControllerView {

    /** The state of the node of that name; empty if there is no such node. */
    CompletableFuture<Optional<JsonObject>> node(String name);

    /** The number of nodes, and the nodes that are not healthy. */
    CompletableFuture<JsonObject> nodes();

    /** The fleet for one screen: sight, zones, unwell, suspect and damped nodes, and what is about to happen. */
    CompletableFuture<JsonObject> status();

    /** Each node in a few words, for a page that shows all of them; see {@code FleetRows}. */
    CompletableFuture<JsonObject> fleet();

    /** Whether the controller has sight, its proof, and since when it has none. */
    CompletableFuture<JsonObject> sight();

    /** How long heartbeats take, the gaps between them, and the advice for the grace period that follows. */
    CompletableFuture<JsonObject> lag();

    /** Why this controller does not work yet or no longer; empty if it works. */
    CompletableFuture<Optional<String>> unready();

    /** Why this healthy process does nothing: another one leads; empty otherwise. Returns immediately. */
    default Optional<String> standby() {
        return Optional.empty();
    }

    /** Why this process cannot continue and should be restarted; empty if no reason is known. Returns immediately. */
    default Optional<String> unhealthy() {
        return Optional.empty();
    }
}
