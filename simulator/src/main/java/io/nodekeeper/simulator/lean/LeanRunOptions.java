package io.nodekeeper.simulator.lean;

/**
 * The options of a {@link LeanRun}.
 *
 * @param nodes their number, at least 1
 * @param seed the seed of all randomness
 */
public record LeanRunOptions(int nodes, long seed) {}
