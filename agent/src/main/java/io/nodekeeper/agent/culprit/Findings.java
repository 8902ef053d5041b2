package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import io.nodekeeper.cri.RuntimeVersion;
import io.nodekeeper.time.GoDuration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The result of a checkup. Immutable.
 *
 * @param answers the outcome of each call, in the order of the calls
 * @param processes the runtime's processes at the last scan; empty if it failed
 * @param processError why the scan failed; empty if it did not
 * @param culprits what hangs, causes before effects
 * @param loads what may make calls late although nothing was found to hang
 */
public record Findings(
        String socket,
        Optional<RuntimeVersion> version,
        Optional<RuntimeStatus> status,
        ContainerIndex workload,
        List<CallOutcome> answers,
        List<ProcessInfo> processes,
        String processError,
        List<Culprit> culprits,
        List<Culprit> loads) {
    /** The most failed calls of one method in {@link #faults}: an operator needs one, and a node has 100 pods. */
    private static final int CALLS = 3;

    /** Whether the node would be Ready: nothing hangs, every call is answered, runtime and network are ready. */
    public boolean healthy() {
        return culprits.isEmpty() && faults().isEmpty();
    }

    /** What else keeps the node from being healthy, one sentence each; empty if nothing does. */
    public List<String> faults() {
        List<String> faults = new ArrayList<>();
        if (!processError.isEmpty()) {
            faults.add("the processes could not be seen: " + processError);
        }
        status.ifPresent(known -> List.of(RuntimeCondition.RUNTIME_READY, RuntimeCondition.NETWORK_READY)
                .forEach(type -> unready(known, type).ifPresent(faults::add)));
        Map<String, List<CallOutcome>> failed = new LinkedHashMap<>();
        for (CallOutcome answer : answers) {
            if (answer.kind() != CallOutcome.Kind.ANSWERED) {
                failed.computeIfAbsent(answer.call().method(), method -> new ArrayList<>())
                        .add(answer);
            }
        }
        failed.values().forEach(calls -> {
            calls.stream().limit(CALLS).map(Findings::failure).forEach(faults::add);
            if (calls.size() > CALLS) {
                faults.add((calls.size() - CALLS) + " more calls of "
                        + calls.getFirst().call().method() + " fail");
            }
        });
        return faults;
    }

    private static Optional<String> unready(RuntimeStatus status, String type) {
        Optional<RuntimeCondition> condition = status.condition(type);
        if (condition.isEmpty()) {
            return Optional.of("the container runtime does not report " + type);
        }
        return condition
                .filter(known -> !known.status())
                .map(known -> type + " is false"
                        + ((known.reason() + known.message()).isEmpty()
                                ? ""
                                : ": " + known.reason() + ": " + known.message()));
    }

    private static String failure(CallOutcome answer) {
        String call = answer.call().method()
                + answer.call()
                        .containerId()
                        .map(id -> " of container " + id)
                        .or(() -> answer.call().sandboxId().map(id -> " of sandbox " + id))
                        .orElse("");
        return answer.kind() == CallOutcome.Kind.LATE
                ? call + " is not answered within "
                        + GoDuration.format(answer.took().truncatedTo(ChronoUnit.MILLIS))
                : call + " fails: " + answer.error();
    }
}
