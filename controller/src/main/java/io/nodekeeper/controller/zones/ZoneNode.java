package io.nodekeeper.controller.zones;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;

/**
 * The state of a node that matters to its zone.
 *
 * @param zone the key of its zone, see {@link ZoneKey}
 * @param counted whether it counts for the state of its zone; a label can exclude nodes
 * @param ready the status of its Ready condition; empty if there is none
 * @param notReadyTaint whether it has the taint {@code not-ready:NoExecute}
 * @param unreachableTaint whether it has the taint {@code unreachable:NoExecute}
 */
public record ZoneNode(String zone, boolean counted, String ready, boolean notReadyTaint, boolean unreachableTaint) {
    private static final String EXCLUDE = "node.kubernetes.io/exclude-disruption";

    /** The state of {@code node}. */
    public static ZoneNode of(Node node) {
        return new ZoneNode(
                ZoneKey.of(node),
                !node.metadata().object("labels").has(EXCLUDE),
                node.ready().map(Condition::status).orElse(""),
                node.hasTaint(Taint.NOT_READY, Taint.NO_EXECUTE),
                node.hasTaint(Taint.UNREACHABLE, Taint.NO_EXECUTE));
    }

    /** Whether its Ready condition is True. */
    public boolean isReady() {
        return ready.equals(Condition.TRUE);
    }

    /** Whether it has one of the two taints. */
    public boolean tainted() {
        return notReadyTaint || unreachableTaint;
    }

    /** Whether its condition requires a taint and it has none; replacing a wrong one needs no permission. */
    public boolean wants() {
        return !tainted() && (ready.equals(Condition.FALSE) || ready.equals(Condition.UNKNOWN));
    }
}
