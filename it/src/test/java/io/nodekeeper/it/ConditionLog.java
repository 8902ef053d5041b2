package io.nodekeeper.it;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Selection;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** The conditions of nodes as the API shows them, and when each first appeared. Thread-safe. */
public final class ConditionLog implements AutoCloseable {
    private final Observer observer;
    private final Map<String, List<Entry>> entries = new ConcurrentHashMap<>();

    /** A condition that was new at {@code at}, System.nanoTime, be it only in its heartbeat. */
    record Entry(long at, Condition condition) {
        boolean says(String status) {
            return condition.status().equals(status);
        }
    }

    public ConditionLog(Path kubeconfig) {
        observer = new Observer(kubeconfig);
        observer.follow(Selection.all(ResourceType.NODES), this::seen, gone -> {});
    }

    /** All values of a node's condition from {@code since} on, the oldest first, System.nanoTime. */
    List<Entry> since(long since, String node, String type) {
        return all(node, type).stream().filter(entry -> entry.at >= since).toList();
    }

    /** The present value. */
    public Optional<Condition> now(String node, String type) {
        List<Entry> all = all(node, type);
        return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast().condition);
    }

    /**
     * The present value if it appeared after {@code since}, System.nanoTime. The times within a condition do not tell that: they have
     * whole seconds, and an agent can be killed and write again within one.
     */
    public Optional<Condition> nowSince(long since, String node, String type) {
        List<Entry> later = since(since, node, type);
        return later.isEmpty() ? Optional.empty() : Optional.of(later.getLast().condition);
    }

    /** Whether this is the present status; a missing condition counts as False. */
    boolean is(String node, String type, String status) {
        return now(node, type).map(Condition::status).orElse(Condition.FALSE).equals(status);
    }

    private List<Entry> all(String node, String type) {
        return entries.computeIfAbsent(node + "/" + type, unknown -> new CopyOnWriteArrayList<>());
    }

    private void seen(ApiObject object) {
        long now = System.nanoTime();
        for (Condition condition : new Node(object.json()).conditions()) {
            List<Entry> all = all(object.name(), condition.type());
            if (all.isEmpty() || !all.getLast().condition.equals(condition)) {
                all.add(new Entry(now, condition));
            }
        }
    }

    @Override
    public void close() {
        observer.close();
    }
}
