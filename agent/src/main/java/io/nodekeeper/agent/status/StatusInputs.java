package io.nodekeeper.agent.status;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.DeviceCapacity;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.facts.RuntimeFacts;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * The input from which a node's status is computed.
 *
 * @param version the agent's version, for {@code kubeletVersion}
 * @param runtime the facts about the container runtime
 * @param conditions the agent's own conditions, as they should be
 * @param starting whether the runtime's only errors are that first answers are missing after a start
 * @param now the wall time, as it is written
 * @param knownUnschedulable the value of {@code spec.unschedulable} in the last event
 * @param devices the devices of plugins
 */
public record StatusInputs(
        AgentConfig config,
        String version,
        HostFacts facts,
        Set<Pressure> pressures,
        RuntimeFacts runtime,
        ReadyErrors errors,
        List<ConditionReport> conditions,
        boolean starting,
        Instant now,
        boolean knownUnschedulable,
        DeviceCapacity devices) {}
