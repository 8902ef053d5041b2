package io.nodekeeper.simulator.tune;

import io.nodekeeper.controller.config.ControllerConfig;

/**
 * A configuration to try.
 *
 * @param flags what distinguishes it, as flags
 * @param config of every controller
 * @param leaseDurationSeconds of the nodes' leases
 */
public record Candidate(String flags, ControllerConfig config, int leaseDurationSeconds) {}
