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
 * @param restarts how often the runtime's process was replaced within ten minutes
 * @param listed whether {@code workload} is from lists that the runtime answered, so that what is missing does not exist
 * @param socket the runtime's socket, for messages
 * @param now monotonic ns
 * @param wall the same moment by the wall clock, for display only
 */
public record DiagnosisInput(
        List<ObservedProcess> processes,
        List<CallOutcome> answers,
        ContainerIndex workload,
        int restarts,
        boolean listed,
        String socket,
        long now,
        Instant wall) {

    /** The input at this moment. */
    public static DiagnosisInput of(
            List<ObservedProcess> processes,
            List<CallOutcome> answers,
            ContainerIndex workload,
            int restarts,
            boolean listed,
            String socket,
            Clock clock) {
        return new DiagnosisInput(
                processes, answers, workload, restarts, listed, socket, clock.nanoTime(), clock.wallTime());
    }

    /** The wall time {@code age} ago. */
    Instant ago(Duration age) {
        return wall.minus(age);
    }
}
