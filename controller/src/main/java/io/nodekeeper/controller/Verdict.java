package io.nodekeeper.controller;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What is to be said of a node, given all that is known of it. */
sealed interface Verdict {

    /** It is within its deadline, or was by the time of a second look. */
    record Alive() implements Verdict {}

    /** It is silent, and its Ready condition says so already. */
    record AlreadyUnknown() implements Verdict {}

    /**
     * It is silent: write this.
     *
     * @param node the node as read, with its conditions changed
     * @param wasReady whether its Ready condition was True
     */
    record MarkUnknown(Node node, boolean wasReady) implements Verdict {}

    /** The conditions that an agent reports, in the order in which they are written; NetworkUnavailable is another's. */
    List<String> REPORTED =
            List.of(Condition.READY, Condition.MEMORY_PRESSURE, Condition.DISK_PRESSURE, Condition.PID_PRESSURE);

    /**
     * Judges a node.
     *
     * @param node the node as it is in the API at this moment
     * @param deadline the last moment of its grace, monotonic
     * @param now monotonic
     * @param wallTime the time to write
     */
    static Verdict of(Node node, long deadline, long now, Instant wallTime) {
        if (now <= deadline) {
            return new Alive();
        }
        Optional<Condition> ready = node.ready();
        if (ready.map(Condition::status).filter(Condition.UNKNOWN::equals).isPresent()) {
            return new AlreadyUnknown();
        }
        List<Condition> conditions = new ArrayList<>(node.conditions());
        for (String type : REPORTED) {
            silence(conditions, type, node, wallTime);
        }
        return new MarkUnknown(
                node.withConditions(conditions),
                ready.map(Condition::status).filter(Condition.TRUE::equals).isPresent());
    }

    private static void silence(List<Condition> conditions, String type, Node node, Instant wallTime) {
        for (int i = 0; i < conditions.size(); i++) {
            Condition condition = conditions.get(i);
            if (!condition.type().equals(type)) {
                continue;
            }
            if (!condition.status().equals(Condition.UNKNOWN)) {
                Condition stopped = Condition.of(
                        type,
                        Condition.UNKNOWN,
                        "NodeStatusUnknown",
                        "Kubelet stopped posting node status.",
                        wallTime,
                        wallTime);
                // Only what changes is written: the heartbeat stays as the agent sent it.
                conditions.set(
                        i,
                        new Condition(condition
                                .json()
                                .with("status", stopped.status())
                                .with("reason", stopped.reason())
                                .with("message", stopped.message())
                                .with("lastTransitionTime", stopped.json().text("lastTransitionTime"))));
            }
            return;
        }
        conditions.add(Condition.of(
                type,
                Condition.UNKNOWN,
                "NodeStatusNeverUpdated",
                "Kubelet never posted node status.",
                node.creationTimestamp().orElse(wallTime),
                wallTime));
    }
}
