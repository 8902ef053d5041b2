package io.nodekeeper.agent.heartbeat;

import io.nodekeeper.api.Node;
import java.util.Optional;
import java.util.function.Consumer;

/** Reads Nodes from a cache, without calls. Called on the agent's loop. */
public interface NodeSource {

    /** The cached Node of that name; empty if there is none. */
    Optional<Node> node(String name);

    /** {@code listener} receives the Node of that name on every change; one listener per name. */
    default void listen(String name, Consumer<Node> listener) {}
}
