package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The input of a diagnosis. Immutable.
 *
 * @param processes the runtime's own processes, with their history
 * @param answers the newest outcome of each call to the runtime
 * @param socket the runtime's socket, for messages
 * @param now monotonic ns
 * @param wall the same moment by the wall clock, for display only
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
