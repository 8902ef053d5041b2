package io.nodekeeper.simulator.cluster;

import io.nodekeeper.client.Transport;
import io.nodekeeper.controller.config.ControllerConfig;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * The setup of a simulated cluster.
 *
 * @param nodes the number of nodes, named {@code n0}, {@code n1} and so on
 * @param seed the seed of all randomness
 * @param controllers their number; the first is {@code controller}, the others {@code controller2} and so on
 * @param pods whether nodes run the pods that are bound to them; without pods, nodes save a watch each
 * @param config the configuration of every controller
 * @param tap wraps the transport between the first controller and its network, in each of its lives
 * @param elected whether controllers elect an active one; if not, all of them are active
 * @param leaseDurationSeconds of the nodes' leases
 */
public record ClusterSetup(
        int nodes,
        long seed,
        int controllers,
        boolean pods,
        ControllerConfig config,
        UnaryOperator<Transport> tap,
        boolean elected,
        int leaseDurationSeconds) {
    /** Kubernetes' default of --node-lease-duration-seconds. */
    public static final int LEASE_DURATION_SECONDS = 40;

    /** The period in which nodes renew their leases: a quarter of the duration, as kubelets do. */
    Duration renewal() {
        return Duration.ofSeconds(leaseDurationSeconds).dividedBy(4);
    }

    /** A setup in which all controllers are active. */
    public ClusterSetup(
            int nodes,
            long seed,
            int controllers,
            boolean pods,
            ControllerConfig config,
            UnaryOperator<Transport> tap) {
        this(nodes, seed, controllers, pods, config, tap, false, LEASE_DURATION_SECONDS);
    }

    /** Nodes without pods and one controller with every default. */
    public static ClusterSetup of(int nodes, long seed) {
        return new ClusterSetup(nodes, seed, 1, false, ControllerConfig.DEFAULT, UnaryOperator.identity());
    }
}
