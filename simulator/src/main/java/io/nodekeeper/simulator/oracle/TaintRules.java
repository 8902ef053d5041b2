package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import java.time.Duration;
import java.util.List;

/**
 * Checks the taints of nodes that are not ready: they follow the Ready condition within a second. A node that flaps may
 * keep them while it is Ready, for as long as its damping can last. Confined to virtual time.
 */
final class TaintRules {
    /** The time within which taints must follow conditions (the specification's bound). */
    private static final Duration BOUND = Duration.ofSeconds(1);

    private final Scales scales;

    TaintRules(Scales scales) {
        this.scales = scales;
    }

    /** A node was seen; its facts have the new Ready condition, but the previous taints. */
    void changed(NodeFacts node, Node object) {
        List<Taint> taints = object.taints();
        if (!NodeFacts.text(taints).equals(node.taintsText())) {
            scales.trace(node.name, "taints=[" + NodeFacts.text(taints) + "]");
        }
        node.taints = taints;
        judge(node);
    }

    private void judge(NodeFacts node) {
        if (isRight(node)) {
            node.wrongTaintsSince = NodeFacts.NEVER;
        } else if (node.wrongTaintsSince == NodeFacts.NEVER) {
            long since = scales.now();
            node.wrongTaintsSince = since;
            check(node, since);
        }
    }

    private void check(NodeFacts node, long since) {
        scales.after(since, BOUND, scales.control, () -> node.known && node.wrongTaintsSince == since, () -> {
            if (!node.isReady() || !mayBeHeld(node)) {
                scales.violated(
                        Rule.TAINTS_LATE,
                        node.name,
                        "Ready=" + node.ready + " and taints=[" + node.taintsText() + "] for "
                                + Scales.text(scales.now() - since));
            } else {
                // They must be removed when the damping ends.
                scales.later(BOUND, () -> check(node, since));
            }
        });
    }

    /** Whether damping can be the reason why the Ready node has taints. */
    private boolean mayBeHeld(NodeFacts node) {
        long fellAt = node.flaps.fellAt();
        long behind = scales.control.within(fellAt, scales.now()) + Scales.RECOVERY.toNanos();
        return node.flaps.mayBeDamped(scales.now(), behind);
    }

    private static boolean isRight(NodeFacts node) {
        boolean unknown = node.isUnknown();
        boolean notReady = node.ready.equals(Condition.FALSE);
        boolean noSchedule = node.has(Taint.UNREACHABLE, Taint.NO_SCHEDULE) == unknown
                && node.has(Taint.NOT_READY, Taint.NO_SCHEDULE) == notReady;
        // This rule does not check whether a NoExecute taint is added, which depends on rates; only which one, and its
        // removal.
        boolean noExecute = (unknown || !node.has(Taint.UNREACHABLE, Taint.NO_EXECUTE))
                && (notReady || !node.has(Taint.NOT_READY, Taint.NO_EXECUTE));
        return noSchedule && noExecute;
    }
}
