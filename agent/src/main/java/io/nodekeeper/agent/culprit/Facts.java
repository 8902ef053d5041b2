package io.nodekeeper.agent.culprit;

import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * All that a diagnosis is made from. Immutable.
 *
 * @param processes the runtime's own, with what was seen of them before
 * @param answers what came of the questions to the runtime, the newest of each
 * @param socket where the runtime is, for people
 * @param now monotonic ns
 * @param wall the same moment by the wall clock, for people only
 */
record Facts(List<Sighting> processes, List<Answer> answers, Workload workload, String socket, long now, Instant wall) {

    static Facts of(List<Sighting> processes, List<Answer> answers, Workload workload, String socket, Clock clock) {
        return new Facts(processes, answers, workload, socket, clock.nanoTime(), clock.wallTime());
    }

    /** The wall time so long ago. */
    Instant ago(Duration age) {
        return wall.minus(age);
    }
}
