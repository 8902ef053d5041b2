package io.nodekeeper.controller;

/** What may be done at the moment about a node's NoExecute taints {@code not-ready} and {@code unreachable}. */
enum NoExecute {
    /** They stay as they are. */
    LEAVE,
    /** They follow the Ready condition, but a node without one does not get one. */
    FOLLOW,
    /** They follow the Ready condition. */
    ADD,
    /** They go. */
    STRIP;

    /** Who knows what may be done. */
    interface Rules {
        /** What may be done now about this node. */
        NoExecute rule(NodeHealth health);

        /**
         * The node is as its rule wants it.
         *
         * @param tainted whether it got a taint for that where it had none
         */
        void settled(NodeHealth health, boolean tainted);
    }
}
