package io.nodekeeper.simulator;

import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.cluster.ClusterSetup;
import java.time.Duration;

/**
 * The options of a {@link RandomRun}.
 *
 * @param nodes their number, at least 1
 * @param duration of virtual time
 * @param seed the seed of all randomness
 * @param crashesPerHour faults of nodes in an hour of virtual time, on average, in the whole cluster
 * @param controlFaultsPerHour the same for the control plane: see {@link ControlFaults}
 * @param pods their number, one on each of the first nodes, and again from the first
 * @param controllers their number, at least 1; several elect an active one
 * @param config the configuration of every controller
 * @param leaseDurationSeconds of the nodes' leases, each of which is renewed four times in that time; at least 1
 */
public record RandomRunOptions(
        int nodes,
        Duration duration,
        long seed,
        double crashesPerHour,
        double controlFaultsPerHour,
        int pods,
        int controllers,
        ControllerConfig config,
        int leaseDurationSeconds) {

    /** A run with the default configuration of controllers and agents. */
    public RandomRunOptions(
            int nodes,
            Duration duration,
            long seed,
            double crashesPerHour,
            double controlFaultsPerHour,
            int pods,
            int controllers) {
        this(
                nodes,
                duration,
                seed,
                crashesPerHour,
                controlFaultsPerHour,
                pods,
                controllers,
                ControllerConfig.DEFAULT,
                ClusterSetup.LEASE_DURATION_SECONDS);
    }

    /** The same with another seed. */
    public RandomRunOptions withSeed(long other) {
        return new RandomRunOptions(
                nodes,
                duration,
                other,
                crashesPerHour,
                controlFaultsPerHour,
                pods,
                controllers,
                config,
                leaseDurationSeconds);
    }

    /** The same faults, for controllers and agents that are configured otherwise. */
    public RandomRunOptions with(ControllerConfig other, int leaseSeconds) {
        return new RandomRunOptions(
                nodes, duration, seed, crashesPerHour, controlFaultsPerHour, pods, controllers, other, leaseSeconds);
    }

    /** A run without pods and with one controller. */
    public RandomRunOptions(
            int nodes, Duration duration, long seed, double crashesPerHour, double controlFaultsPerHour) {
        this(nodes, duration, seed, crashesPerHour, controlFaultsPerHour, 0, 1);
    }
}
