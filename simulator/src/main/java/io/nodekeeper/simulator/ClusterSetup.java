package io.nodekeeper.simulator;

import io.nodekeeper.client.Transport;
import io.nodekeeper.controller.ControllerConfig;
import java.util.function.UnaryOperator;

/**
 * What a simulated cluster consists of.
 *
 * @param nodes how many, named {@code n0}, {@code n1} and so on
 * @param seed from which everything follows
 * @param controllers how many; the first is {@code controller}, the others {@code controller2} and so on
 * @param pods whether nodes run the pods that are bound to them; without, they save a watch each
 * @param config of every controller
 * @param tap put between the first controller and its network, in each of its lives
 * @param elected whether controllers elect the one that works; if not, all of them work at once
 */
record ClusterSetup(
        int nodes,
        long seed,
        int controllers,
        boolean pods,
        ControllerConfig config,
        UnaryOperator<Transport> tap,
        boolean elected) {

    /** All controllers work at once. */
    ClusterSetup(
            int nodes,
            long seed,
            int controllers,
            boolean pods,
            ControllerConfig config,
            UnaryOperator<Transport> tap) {
        this(nodes, seed, controllers, pods, config, tap, false);
    }

    /** Nodes without pods and one controller with every default. */
    static ClusterSetup of(int nodes, long seed) {
        return new ClusterSetup(nodes, seed, 1, false, ControllerConfig.DEFAULT, UnaryOperator.identity());
    }
}
