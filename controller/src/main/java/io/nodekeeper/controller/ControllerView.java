package io.nodekeeper.controller;

import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What a controller can be asked about itself while it works. Thread-safe; answers come on the controller's loop, so that
 * one that does not come says that the loop stands still.
 */
public interface ControllerView {

    /** What is known of the node of that name now; empty if it is not followed. */
    CompletableFuture<Optional<JsonObject>> node(String name);

    /** How many nodes there are, and those of them that are not simply well. */
    CompletableFuture<JsonObject> nodes();

    /** Whether the controller can see, how it knows, and since when not. */
    CompletableFuture<JsonObject> sight();

    /** How long heartbeats take, how far apart they are, and what that says about the grace. */
    CompletableFuture<JsonObject> lag();

    /** Why this controller does not do its work yet, or not any more; empty if it does. */
    CompletableFuture<Optional<String>> unready();

    /** Why this process does nothing and is well all the same: another one leads; empty otherwise. Answers at once. */
    default Optional<String> standby() {
        return Optional.empty();
    }

    /** Why this process cannot go on and should be started anew; empty if nothing is known. Answers at once. */
    default Optional<String> unhealthy() {
        return Optional.empty();
    }
}
