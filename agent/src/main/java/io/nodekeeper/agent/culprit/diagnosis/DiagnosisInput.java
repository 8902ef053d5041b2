package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The input of a diagnosis. Immutable.
 *
 * @param processes the runtime's own, with what was seen of them before
 * @param answers what came of the questions to the runtime, the newest of each
 * @param socket where the runtime is, for people
 * @param now monotonic ns
 * @param wall the same moment by the wall clock, for people only
 */
public record DiagnosisInput(
        List<ObservedProcess> processes,
        List<CallOutcome> answers,
        ContainerIndex workload,
        String socket,
        long now,
        Instant wall) {

    public static DiagnosisInput of(
            List<ObservedProcess> processes,
            List<CallOutcome> answers,
            ContainerIndex workload,
            String socket,
            Clock clock) {
        return new DiagnosisInput(processes, answers, workload, socket, clock.nanoTime(), clock.wallTime());
    }

    /** The wall time {@code age} ago. */
    Instant ago(Duration age) {
        return wall.minus(age);
    }
}
