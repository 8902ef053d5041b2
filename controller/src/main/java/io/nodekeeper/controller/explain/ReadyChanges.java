package io.nodekeeper.controller.explain;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.time.Loop;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Writes each change of the Ready condition that a node's kubelet or agent reports to the history, however short the
 * state before it was. A {@link ReadyTrail} limits the decisions about one node. Verdicts of controllers are not
 * written here. Confined to the loop.
 */
public final class ReadyChanges {
    /** The reasons that only controllers give. */
    private static final Set<String> VERDICTS = Set.of("NodeStatusUnknown", "NodeStatusNeverUpdated");

    private final History history;
    private final Loop loop;
    /** The nodes that have changed: at most one for each node. */
    private final Map<NodeHealth, ReadyTrail> trails = new IdentityHashMap<>();

    public ReadyChanges(History history, Loop loop) {
        this.history = history;
        this.loop = loop;
    }

    /** The node has sent a heartbeat with this state; {@code before} was the status of Ready in the state before it. */
    public void reported(NodeHealth health, String before, Node node) {
        if (before.equals(health.ready())) {
            return;
        }
        node.ready()
                .filter(condition -> !isVerdict(condition))
                .ifPresent(condition -> changed(health, ReadyChange.of(before, condition)));
    }

    /** The node was deleted. */
    public void gone(NodeHealth health) {
        ReadyTrail trail = trails.remove(health);
        if (trail != null) {
            release(health, trail);
        }
    }

    /** Writes the changes that wait. */
    public void stop() {
        trails.forEach(this::release);
    }

    /** The number of nodes that have changed. */
    public int size() {
        return trails.size();
    }

    /** After a gap in the watch, another controller's verdict may come with a heartbeat that was not seen. */
    private static boolean isVerdict(Condition condition) {
        return condition.status().equals(Condition.UNKNOWN) && VERDICTS.contains(condition.reason());
    }

    private void changed(NodeHealth health, ReadyChange change) {
        ReadyTrail trail = trails.computeIfAbsent(health, node -> new ReadyTrail(now()));
        boolean waited = trail.isWaiting();
        trail.add(change, now()).ifPresent(stored -> add(health, stored, 0));
        if (!waited && trail.isWaiting()) {
            loop.schedule(ReadyTrail.PERIOD, () -> release(health, trail));
        }
    }

    private void release(NodeHealth health, ReadyTrail trail) {
        long now = now();
        long waited = trail.waited(now);
        trail.release(now).ifPresent(change -> add(health, change, waited));
    }

    private void add(NodeHealth health, ReadyChange change, long waited) {
        history.add(new Decision(
                loop.clock().wallTime(),
                health.name(),
                health.uid(),
                Decision.READY_CHANGED,
                change.text(waited),
                change.details()));
    }

    private long now() {
        return loop.clock().nanoTime();
    }
}
