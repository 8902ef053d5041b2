package io.nodekeeper.agent.status;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.facts.RuntimeFacts;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * All that a node's status follows from.
 *
 * @param version the agent's version, for {@code kubeletVersion}
 * @param runtime what is known of the container runtime
 * @param conditions further conditions, as they should be
 * @param starting whether the runtime's errors only say that the process is too young to know
 * @param now the wall time, as it is written
 * @param knownUnschedulable what the last event said about {@code spec.unschedulable}
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
        boolean knownUnschedulable) {}
