package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.cri.RuntimeStatus;
import io.nodekeeper.cri.RuntimeVersion;
import java.util.List;
import java.util.Optional;

/**
 * What a checkup found. Immutable.
 *
 * @param answers what came of each question, in the order they were asked
 * @param processes the runtime's own, at the last look; empty if they could not be looked at
 * @param processError why they could not, else empty
 * @param culprits what hangs, causes before effects
 */
public record Findings(
        String socket,
        Optional<RuntimeVersion> version,
        Optional<RuntimeStatus> status,
        ContainerIndex workload,
        List<CallOutcome> answers,
        List<ProcessInfo> processes,
        String processError,
        List<Culprit> culprits) {}
