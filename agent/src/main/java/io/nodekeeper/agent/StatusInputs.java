package io.nodekeeper.agent;

import java.time.Instant;
import java.util.Set;

/**
 * All that a node's status follows from.
 *
 * @param version the agent's version, for {@code kubeletVersion}
 * @param now the wall time, as it is written
 * @param knownUnschedulable what the last event said about {@code spec.unschedulable}
 */
record StatusInputs(
        AgentConfig config,
        String version,
        HostFacts facts,
        Set<Pressure> pressures,
        ReadyErrors errors,
        Instant now,
        boolean knownUnschedulable) {}
