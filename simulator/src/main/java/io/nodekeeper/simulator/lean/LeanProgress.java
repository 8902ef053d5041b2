package io.nodekeeper.simulator.lean;

import java.time.Duration;

/**
 * How far a lean run is.
 *
 * @param phase what happens now
 * @param simulated virtual time in this phase
 * @param duration virtual time of the whole phase
 */
public record LeanProgress(LeanPhase phase, Duration simulated, Duration duration) {}
