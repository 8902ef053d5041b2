package io.nodekeeper.controller.verdicts;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The verdict on a node. */
public sealed interface Verdict {

    /** The node is within its deadline. */
    record Alive() implements Verdict {}

    /** The node missed its deadline, and its Ready condition is already Unknown. */
    record AlreadyUnknown() implements Verdict {}

    /**
     * The node missed its deadline: write {@code node}.
     *
     * @param node the node that was read, with changed conditions
     * @param wasReady whether its Ready condition was True
     */
    record MarkUnknown(Node node, boolean wasReady) implements Verdict {}

    /** The conditions that an agent reports, in the order of writing; another component writes NetworkUnavailable. */
    List<String> REPORTED =
            List.of(Condition.READY, Condition.MEMORY_PRESSURE, Condition.DISK_PRESSURE, Condition.PID_PRESSURE);

    /**
     * Decides the verdict.
     * @param node the current node in the API
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
                // Only changes are written: the heartbeat time stays as the agent sent it.
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
