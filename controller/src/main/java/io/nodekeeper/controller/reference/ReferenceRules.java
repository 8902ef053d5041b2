package io.nodekeeper.controller.reference;

import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;

/**
 * Which parts of the reference's behaviour apply, read once from the feature gates.
 *
 * @param monitorPass whether silent nodes are found by a pass over all nodes, and not by their deadlines
 * @param guarded whether the lease is read live before a node is declared Unknown
 * @param byUid whether the record of a node is deleted with the node, so that a recreated node does not inherit it
 * @param keepsTaints whether NoExecute taints stay that are found at the start
 * @param taintsAtOnce whether NoExecute taints follow a verdict in the same pass, and not in the next one
 * @param clockImmune whether any other {@code renewTime} is a renewal, and not only a later one
 */
public record ReferenceRules(
        boolean monitorPass,
        boolean guarded,
        boolean byUid,
        boolean keepsTaints,
        boolean taintsAtOnce,
        boolean clockImmune) {
    /** What {@code gates} choose. */
    public static ReferenceRules of(FeatureGates gates) {
        return new ReferenceRules(
                !gates.has(ControllerFeature.WATCH_DRIVEN_DEADLINES),
                gates.has(ControllerFeature.OBSERVER_GUARD),
                gates.has(ControllerFeature.STATE_BY_UID),
                gates.has(ControllerFeature.KEEP_TAINTS),
                gates.has(ControllerFeature.IMMEDIATE_NO_EXECUTE),
                gates.has(ControllerFeature.CLOCK_IMMUNITY));
    }
}
