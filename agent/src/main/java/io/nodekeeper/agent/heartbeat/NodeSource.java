package io.nodekeeper.agent.heartbeat;

import io.nodekeeper.api.Node;
import java.util.Optional;
import java.util.function.Consumer;

/** Looks a Node up in a cache, without a call. Called on the agent's loop. */
public interface NodeSource {

    /** The Node of that name as it was last seen; empty if there is none, or none seen yet. */
    Optional<Node> node(String name);

    /** Has {@code listener} told of the Node of that name whenever it was seen to change; one listener a name. */
    default void listen(String name, Consumer<Node> listener) {}
}
