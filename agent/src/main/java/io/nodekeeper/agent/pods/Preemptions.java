package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The critical pods that wait until pods that are ending have made room for them. Confined to its loop. */
final class Preemptions {
    /** A kubelet waits at least that long for pods that it ends, otherwise one and a half times their grace. */
    private static final Duration SHORTEST = Duration.ofSeconds(10);
    /**
     * Enough for nearly all pods. Their authors choose the grace, and some operators of databases set a week: a node without a critical
     * pod for so long is worse than two pods in the room of one.
     */
    private static final Duration LONGEST = Duration.ofMinutes(10);

    private final Clock clock;
    /** By UID: when the wait ends at the latest, monotonic ns. As many as there are critical pods that have no worker yet. */
    private final Map<String, Long> ends = new HashMap<>();

    Preemptions(Clock clock) {
        this.clock = clock;
    }

    /** The pod waits for {@code ending} from now on. */
    void begin(String uid, List<Pod> ending) {
        ends.put(uid, end(ending));
    }

    /** Whether the pod waits further for {@code ending}; its time began when it first did. */
    boolean mustWait(String uid, List<Pod> ending) {
        return clock.nanoTime() - ends.computeIfAbsent(uid, begun -> end(ending)) < 0;
    }

    private long end(List<Pod> ending) {
        Duration time = ending.stream()
                .map(pod -> pod.grace().multipliedBy(3).dividedBy(2))
                .max(Comparator.naturalOrder())
                .filter(longest -> longest.compareTo(SHORTEST) > 0)
                .orElse(SHORTEST);
        return clock.nanoTime() + (time.compareTo(LONGEST) < 0 ? time : LONGEST).toNanos();
    }

    /** Whether the pod waits: the room that is made for it is not given to others. */
    boolean has(String uid) {
        return ends.containsKey(uid);
    }

    /** Forgets the pods of which {@code over} says that they wait no longer. */
    void forget(Predicate<String> over) {
        ends.keySet().removeIf(over);
    }
}
