package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The critical pods that wait until the pods that end for them are gone. Confined to its loop. */
final class Preemptions {
    /** A kubelet waits at least that long for pods that it ends, otherwise one and a half times their grace. */
    private static final Duration SHORTEST_KILL = Duration.ofSeconds(10);

    private final Clock clock;
    /** By UID; as many as there are critical pods that have no worker yet. */
    private final Map<String, Waiting> waiting = new LinkedHashMap<>();

    /** A pod that waits for {@code victims}, until {@code until} at the latest, monotonic ns. */
    private record Waiting(Pod pod, List<Pod> victims, long until) {}

    Preemptions(Clock clock) {
        this.clock = clock;
    }

    /** {@code pod} waits for {@code victims}, which have begun to end. */
    void add(Pod pod, List<Pod> victims) {
        Duration longest = victims.stream()
                .map(victim -> victim.grace().multipliedBy(3).dividedBy(2))
                .reduce(SHORTEST_KILL, (one, other) -> one.compareTo(other) > 0 ? one : other);
        waiting.put(pod.uid(), new Waiting(pod, victims, clock.nanoTime() + longest.toNanos()));
    }

    /** Those that wait: the room that is made for them is not given to others. */
    List<Pod> pods() {
        return waiting.values().stream().map(Waiting::pod).toList();
    }

    /** Whether the pod waits. */
    boolean has(String uid) {
        return waiting.containsKey(uid);
    }

    /** Whether the pod has to wait further; what it waited for is forgotten once it has not. */
    boolean mustWait(String uid, Predicate<Pod> ending) {
        Waiting entry = waiting.get(uid);
        boolean waits = entry != null
                && clock.nanoTime() - entry.until() < 0
                && entry.victims().stream().anyMatch(ending);
        if (!waits) {
            waiting.remove(uid);
        }
        return waits;
    }

    /** Forgets the pods that {@code gone} says. */
    void forget(Predicate<String> gone) {
        waiting.keySet().removeIf(gone);
    }
}
