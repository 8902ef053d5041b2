package io.nodekeeper.simulator;

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
 */
public record RandomRunOptions(
        int nodes,
        Duration duration,
        long seed,
        double crashesPerHour,
        double controlFaultsPerHour,
        int pods,
        int controllers) {

    /** The same with another seed. */
    RandomRunOptions withSeed(long other) {
        return new RandomRunOptions(nodes, duration, other, crashesPerHour, controlFaultsPerHour, pods, controllers);
    }

    /** A run without pods and with one controller. */
    public RandomRunOptions(
            int nodes, Duration duration, long seed, double crashesPerHour, double controlFaultsPerHour) {
        this(nodes, duration, seed, crashesPerHour, controlFaultsPerHour, 0, 1);
    }
}
