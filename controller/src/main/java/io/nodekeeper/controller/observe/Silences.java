package io.nodekeeper.controller.observe;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The silence of nodes around verdicts: how long each node had been silent, and when it sent its next heartbeat. This
 * shows later whether a verdict that one controller made alone was right. Time is nanoseconds, passed in. Not
 * thread-safe.
 */
final class Silences {
    /** A verdict at {@code nanos}, with the silence around it as far as it is known. */
    private record Around(long nanos, Optional<Duration> before, Optional<Duration> after) {}

    /**
     * The silence around a verdict.
     *
     * @param before from the node's last heartbeat to the verdict; empty if no heartbeat was seen when it arrived
     * @param after from the verdict to the node's next heartbeat; empty if there was none so far
     */
    record Silence(Optional<Duration> before, Optional<Duration> after) {
        static final Silence UNKNOWN = new Silence(Optional.empty(), Optional.empty());
    }

    /** The first verdict of each outage; {@link Comparison} takes them back after its window. */
    private final Map<Change, Around> verdicts = new LinkedHashMap<>();
    /** The verdict of each node that waits for its next heartbeat: at most one for each in {@link #verdicts}. */
    private final Map<String, Change> waiting = new HashMap<>();

    /** A controller made a verdict. Repetitions do not count. */
    void verdict(Change verdict, Optional<Duration> silence, long now) {
        if (verdicts.putIfAbsent(verdict, new Around(now, silence, Optional.empty())) == null) {
            waiting.put(verdict.node(), verdict);
            if (verdicts.size() > Comparison.MOST_WAITING) {
                take(verdicts.keySet().iterator().next());
            }
        }
    }

    /** A heartbeat of the node arrived, which was sent then. One from before the verdict ends no silence. */
    void heard(String node, long sent) {
        Change verdict = waiting.get(node);
        Around around = verdict == null ? null : verdicts.get(verdict);
        if (verdict != null && around != null && sent - around.nanos >= 0) {
            waiting.remove(node);
            verdicts.put(
                    verdict,
                    new Around(around.nanos, around.before, Optional.of(Duration.ofNanos(sent - around.nanos))));
        }
    }

    /** Removes and returns the silence around a verdict. */
    Silence take(Change verdict) {
        Around around = verdicts.remove(verdict);
        if (around == null) {
            return Silence.UNKNOWN;
        }
        waiting.remove(verdict.node(), verdict);
        return new Silence(around.before, around.after);
    }

    /** The number of verdicts. */
    int size() {
        return verdicts.size();
    }
}
