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
 * The result of a checkup. Immutable.
 *
 * @param answers the outcome of each call, in the order of the calls
 * @param processes the runtime's processes at the last scan; empty if it failed
 * @param processError why the scan failed; empty if it did not
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
