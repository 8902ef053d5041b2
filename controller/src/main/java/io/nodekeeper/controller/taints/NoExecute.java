package io.nodekeeper.controller.taints;

import io.nodekeeper.controller.heartbeats.NodeHealth;

/** The rule for a node's NoExecute taints {@code not-ready} and {@code unreachable} at the moment. */
public enum NoExecute {
    /** They stay as they are. */
    LEAVE,
    /** They follow the Ready condition, but a node without one does not get one. */
    FOLLOW,
    /** They follow the Ready condition. */
    ADD,
    /** They are removed. */
    STRIP;

    /** Decides the rule for each node. */
    public interface Rules {
        /** The rule for this node now. */
        NoExecute rule(NodeHealth health);

        /**
         * The node complies with its rule.
         *
         * @param tainted whether it got a taint and had none before
         */
        void settled(NodeHealth health, boolean tainted);
    }
}
