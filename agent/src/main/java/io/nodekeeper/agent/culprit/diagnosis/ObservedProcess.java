package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.Stall;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A process with its history over earlier scans. Immutable.
 *
 * @param stopped how long it has been seen in state T; empty if it is not in that state, or was seen in it only once
 * @param zombie the same for state Z
 * @param stuck its threads in state D that have not run since an earlier look
 * @param throttled the share of its cgroup's processor periods since the last look that were cut short, 0 to 1
 */
public record ObservedProcess(
        ProcessInfo info,
        Optional<Duration> stopped,
        Optional<Duration> zombie,
        List<Stuck> stuck,
        Optional<Double> throttled) {

    /** A thread that makes no progress: for how long, and over how many scans. */
    record Stuck(Stall stall, Duration lasted, int looks) {}
}
