package io.nodekeeper.controller.observe;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * One thing that a node lifecycle controller does to an object.
 *
 * @param kind {@code node} or {@code pod}
 * @param name the object's name, a pod's with its namespace in front
 * @param uid the object's UID
 * @param node the node that it is about
 * @param episode the silence of the node in which it is done, see {@link Signs#episode}; empty if it ends one, or is about a pod
 * @param what {@code Ready=Unknown}, {@code +KEY:EFFECT}, {@code -KEY:EFFECT}, {@code Ready=False} or {@code evicted}
 */
record Change(String kind, String name, String uid, String node, String episode, String what) {
    private static final String UNKNOWN = "Ready=Unknown";
    private static final String OURS = "node.kubernetes.io/";

    /** What of a node a controller may change. */
    record NodeState(boolean unknown, Set<String> taints) {
        static NodeState of(Node node) {
            Set<String> taints = new TreeSet<>();
            for (Taint taint : node.taints()) {
                if (taint.key().startsWith(OURS) && !taint.key().equals(Taint.UNSCHEDULABLE)) {
                    taints.add(taint.key() + ":" + taint.effect());
                }
            }
            return new NodeState(
                    node.ready()
                            .filter(ready -> ready.status().equals(Condition.UNKNOWN))
                            .isPresent(),
                    taints);
        }
    }

    /** What a controller did to a node between two states; an agent never says Unknown, and never touches these taints. */
    static List<Change> between(NodeState before, NodeState after, Node node, String episode) {
        List<Change> changes = new ArrayList<>();
        if (after.unknown && !before.unknown) {
            changes.add(of(node, episode, UNKNOWN));
        }
        after.taints.stream()
                .filter(taint -> !before.taints.contains(taint))
                .forEach(taint -> changes.add(of(node, episode, "+" + taint)));
        before.taints.stream()
                .filter(taint -> !after.taints.contains(taint))
                .forEach(taint -> changes.add(of(node, "", "-" + taint)));
        return changes;
    }

    /** What a controller may have done to a pod so that it is in this state. An agent may have, too. */
    static List<Change> possible(JsonObject pod) {
        List<Change> changes = new ArrayList<>();
        if (hasCondition(pod, "Ready", Condition.FALSE)) {
            changes.add(pod(pod, "Ready=False"));
        }
        if (pod.object("metadata").has("deletionTimestamp")) {
            changes.add(pod(pod, "evicted"));
        }
        return changes;
    }

    /** Whether a pod says of itself that taints ended it. */
    static boolean wasEvicted(JsonObject pod) {
        return pod.object("status")
                .array("conditions")
                .objects()
                .anyMatch(condition -> condition.text("type").equals("DisruptionTarget")
                        && condition.text("reason").equals("DeletionByTaintManager"));
    }

    static Change evicted(JsonObject pod) {
        return pod(pod, "evicted");
    }

    /** Whether this declares a node Unknown. */
    boolean isVerdict() {
        return what.equals(UNKNOWN);
    }

    private static boolean hasCondition(JsonObject object, String type, String status) {
        return object.object("status")
                .array("conditions")
                .objects()
                .anyMatch(condition -> condition.text("type").equals(type)
                        && condition.text("status").equals(status));
    }

    private static Change of(Node node, String episode, String what) {
        return new Change("node", node.name(), node.uid(), node.name(), episode, what);
    }

    private static Change pod(JsonObject pod, String what) {
        ApiObject object = () -> pod;
        return new Change(
                "pod",
                object.namespace() + "/" + object.name(),
                object.uid(),
                object.spec().text("nodeName"),
                "",
                what);
    }

    @Override
    public String toString() {
        return kind + " " + name + " " + what;
    }
}
