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
 * One change of an object by a node lifecycle controller.
 *
 * @param kind {@code node} or {@code pod}
 * @param name the object's name, for a pod with its namespace as prefix
 * @param uid the object's UID
 * @param node the node that caused it
 * @param episode the outage of the node to which it belongs, see {@link Signs#episode}; empty if it ends one, or is
 *     about a pod
 * @param what {@code Ready=Unknown}, {@code +KEY:EFFECT}, {@code -KEY:EFFECT}, {@code Ready=False} or {@code evicted}
 */
record Change(String kind, String name, String uid, String node, String episode, String what) {
    private static final String UNKNOWN = "Ready=Unknown";
    private static final String EVICTED = "evicted";
    private static final String OURS = "node.kubernetes.io/";

    /**
     * The state of a node that a controller may change.
     *
     * @param unknown whether its Ready is Unknown
     * @param taints the taints that only controllers set, as {@code KEY:EFFECT}
     * @param evictsAnyway whether it has a taint that evicts pods for another reason than its silence
     */
    record NodeState(boolean unknown, Set<String> taints, boolean evictsAnyway) {
        static NodeState of(Node node) {
            Set<String> taints = new TreeSet<>();
            boolean evictsAnyway = false;
            for (Taint taint : node.taints()) {
                evictsAnyway |=
                        taint.effect().equals(Taint.NO_EXECUTE) && !taint.key().equals(Taint.UNREACHABLE);
                if (taint.key().startsWith(OURS) && !taint.key().equals(Taint.UNSCHEDULABLE)) {
                    taints.add(taint.key() + ":" + taint.effect());
                }
            }
            return new NodeState(
                    node.ready()
                            .filter(ready -> ready.status().equals(Condition.UNKNOWN))
                            .isPresent(),
                    taints,
                    evictsAnyway);
        }
    }

    /** The changes by a controller between two states of a node. An agent never writes Unknown or these taints. */
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

    /** The changes by a controller that may have led to this state of a pod. An agent may also have made them. */
    static List<Change> possible(JsonObject pod) {
        List<Change> changes = new ArrayList<>();
        if (hasCondition(pod, "Ready", Condition.FALSE)) {
            changes.add(pod(pod, "Ready=False"));
        }
        if (pod.object("metadata").has("deletionTimestamp")) {
            changes.add(evicted(pod));
        }
        return changes;
    }

    /** Whether the pod's status says that taints caused its deletion. */
    static boolean wasEvicted(JsonObject pod) {
        return pod.object("status")
                .array("conditions")
                .objects()
                .anyMatch(condition -> condition.text("type").equals("DisruptionTarget")
                        && condition.text("reason").equals("DeletionByTaintManager"));
    }

    static Change evicted(JsonObject pod) {
        return pod(pod, EVICTED);
    }

    /** Whether this declares a node Unknown. */
    boolean isVerdict() {
        return what.equals(UNKNOWN);
    }

    /** Whether this ends a pod because of its node's taints. */
    boolean isEviction() {
        return what.equals(EVICTED);
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
