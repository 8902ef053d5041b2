package io.nodekeeper.controller.guard;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A write of the cluster's node controller that blames a node for its silence. Only such writes are ever refused. A
 * review may come from anybody, and its parts are kept and shown. So a review with a part that no API server would store
 * blames nobody: all parts are of limited length, and a node has one name only.
 *
 * @param kind what it does
 * @param node the name of the node
 * @param uid the node's UID; empty for a deletion of a pod, which does not carry it
 * @param user who writes
 * @param text the write in words
 */
public record Blame(Kind kind, String node, String uid, String user, String text) {
    /** The kinds of writes. */
    public enum Kind {
        /** The condition Ready becomes Unknown. */
        STATUS,
        /** The node gets the taint unreachable, or the taint not-ready though it does not report NotReady itself. */
        TAINT,
        /** A pod is deleted because of a NoExecute taint of its node. */
        EVICTION
    }

    /** The users under whom kube-controller-manager's node controller writes, with and without service accounts. */
    public static final Set<String> USERS =
            Set.of("system:serviceaccount:kube-system:node-controller", "system:kube-controller-manager");

    private static final String SERVICE_ACCOUNT = "system:serviceaccount:";
    /** The reason that taint eviction writes into the pod's condition DisruptionTarget, since Kubernetes 1.26. */
    private static final String BY_TAINT_MANAGER = "DeletionByTaintManager";

    private static final Set<String> STATUSES = Set.of(Condition.TRUE, Condition.FALSE, Condition.UNKNOWN);
    private static final Set<String> EFFECTS = Set.of(Taint.NO_SCHEDULE, Taint.PREFER_NO_SCHEDULE, Taint.NO_EXECUTE);

    /** What {@code review} blames on a node; empty if it must pass untouched. {@code users} are the writers to check. */
    public static Optional<Blame> of(Review review, Set<String> users) {
        if (!users.contains(review.user()) || review.dryRun()) {
            return Optional.empty();
        }
        return switch (review.operation() + " " + review.resource() + "/" + review.subresource()) {
            case "UPDATE nodes/status" -> status(review);
            case "UPDATE nodes/" -> taint(review);
            case "DELETE pods/" -> eviction(review);
            default -> Optional.empty();
        };
    }

    private static Optional<Blame> status(Review review) {
        String before = ready(review.before());
        boolean silenced = STATUSES.contains(before)
                && !before.equals(Condition.UNKNOWN)
                && ready(review.after()).equals(Condition.UNKNOWN);
        return silenced ? named(review, Kind.STATUS, "changes Ready from " + before + " to Unknown") : Optional.empty();
    }

    private static Optional<Blame> taint(Review review) {
        Node before = new Node(review.before());
        Node after = new Node(review.after());
        List<Taint> added = after.taints().stream()
                .filter(taint -> blames(taint, after) && !before.hasTaint(taint.key(), taint.effect()))
                .toList();
        if (added.isEmpty() || !added.stream().allMatch(taint -> EFFECTS.contains(taint.effect()))) {
            return Optional.empty();
        }
        List<String> taints = added.stream()
                .map(taint -> taint.key() + ":" + taint.effect())
                .distinct()
                .toList();
        return named(review, Kind.TAINT, "adds the taint " + String.join(", ", taints));
    }

    /**
     * Whether {@code taint} says that {@code node} is silent. A node that reports NotReady itself gets the taint
     * not-ready for its own report.
     */
    private static boolean blames(Taint taint, Node node) {
        return taint.key().equals(Taint.UNREACHABLE)
                || taint.key().equals(Taint.NOT_READY) && !ready(node.json()).equals(Condition.FALSE);
    }

    private static Optional<Blame> eviction(Review review) {
        JsonObject pod = review.before();
        String node = pod.object("spec").text("nodeName");
        String name = pod.object("metadata").text("name");
        boolean evicts = review.user().startsWith(SERVICE_ACCOUNT)
                || pod.object("status")
                        .array("conditions")
                        .objects()
                        .anyMatch(condition -> condition.text("type").equals("DisruptionTarget")
                                && condition.text("status").equals(Condition.TRUE)
                                && condition.text("reason").equals(BY_TAINT_MANAGER));
        return evicts && isName(node) && isName(review.namespace()) && isName(name)
                ? Optional.of(new Blame(
                        Kind.EVICTION, node, "", review.user(), "evicts the pod " + review.namespace() + "/" + name))
                : Optional.empty();
    }

    private static Optional<Blame> named(Review review, Kind kind, String text) {
        Node node = new Node(review.after());
        return isName(node.name()) && node.uid().length() <= Review.LONGEST_UID
                ? Optional.of(new Blame(kind, node.name(), node.uid(), review.user(), text))
                : Optional.empty();
    }

    private static boolean isName(String text) {
        return Names.subdomainFault(text).isEmpty();
    }

    private static String ready(JsonObject node) {
        return new Node(node).ready().map(Condition::status).orElse("");
    }

    /**
     * Why the eviction of a pod from {@code node} does not follow from the node's silence; empty if it does. Taints that
     * people or other controllers set are none of the guard's concern.
     */
    static Optional<String> otherCause(Node node) {
        List<Taint> evicting = node.taints().stream()
                .filter(taint -> taint.effect().equals(Taint.NO_EXECUTE))
                .toList();
        if (evicting.stream().noneMatch(taint -> blames(taint, node))) {
            return Optional.of("the node has no NoExecute taint for its silence");
        }
        return evicting.stream()
                .filter(taint -> !blames(taint, node))
                .findFirst()
                .map(taint -> "the node also has the taint " + taint.key() + ":NoExecute");
    }
}
