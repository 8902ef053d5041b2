package io.nodekeeper.agent.heartbeat;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Nodes according to a watch: one Node for a single agent, or all Nodes for many agents that share it. Confined to
 * its client's loop.
 */
public final class NodeCache implements NodeSource {
    private final Map<String, Node> nodes = new HashMap<>();
    private final Map<String, Consumer<Node>> listeners = new HashMap<>();
    private final Reflector reflector;

    /** A cache that is not started yet; {@code selection} is of nodes. */
    public NodeCache(KubeClient client, Selection selection, RandomGenerator random) {
        reflector = new Reflector(client, selection, random, new Reflector.Handler() {
            @Override
            public void onReplace(List<JsonObject> objects) {
                nodes.clear();
                objects.forEach(this::onChange);
            }

            @Override
            public void onChange(JsonObject object) {
                Node node = new Node(object);
                nodes.put(node.name(), node);
                Consumer<Node> listener = listeners.get(node.name());
                if (listener != null) {
                    listener.accept(node);
                }
            }

            @Override
            public void onDelete(JsonObject object) {
                nodes.remove(new Node(object).name());
            }
        });
    }

    /** Starts the watch. */
    public void start() {
        reflector.start();
    }

    /** Stops the watch; the cached Nodes stay. */
    public void stop() {
        reflector.stop();
    }

    @Override
    public void listen(String name, Consumer<Node> listener) {
        listeners.put(name, listener);
    }

    @Override
    public Optional<Node> node(String name) {
        return Optional.ofNullable(nodes.get(name));
    }
}
