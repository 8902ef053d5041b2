package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Layer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Keeps the current culprits and prevents flapping: a culprit that a scan misses is held for a while, and one that
 * persists keeps its first wording. Not thread-safe.
 */
final class CulpritRegistry {
    /**
     * How long a culprit must be missing before it is cleared, over at least two scans: longer than it takes to find
     * it again, and longer than a call that waited for it takes to time out.
     */
    private static final Duration HOLD = Duration.ofSeconds(10);

    private record Held(Culprit culprit, Optional<Long> goneSince) {}

    /** The changes caused by one scan; {@code missed} are the culprits that this scan is the first to miss. */
    record Changes(List<Culprit> found, List<Culprit> cleared, List<Culprit> missed) {}

    private final Map<String, Held> held = new LinkedHashMap<>();

    /** The current culprits and loads, causes before effects. */
    List<Culprit> culprits() {
        return inOrder(any -> true);
    }

    /** The current loads, which accuse nothing. */
    List<Culprit> loads() {
        return inOrder(known -> known.culprit.isLoad());
    }

    /**
     * The current culprits for one message, without loads. Those about the runtime as a whole can exclude each other, so one
     * that the last scan did not show is left out if another one was shown.
     */
    List<Culprit> accusations() {
        boolean shown = held.values().stream().anyMatch(known -> isOfRuntime(known) && known.goneSince.isEmpty());
        return inOrder(
                known -> !known.culprit.isLoad() && !(shown && isOfRuntime(known) && known.goneSince.isPresent()));
    }

    /** Whether it accuses the runtime as a whole. */
    private static boolean isOfRuntime(Held known) {
        return known.culprit.layer() == Layer.RUNTIME && !known.culprit.isLoad();
    }

    private List<Culprit> inOrder(Predicate<Held> wanted) {
        if (held.isEmpty()) {
            // Asked every second, and mostly there is none.
            return List.of();
        }
        return held.values().stream()
                .filter(wanted)
                .map(Held::culprit)
                .sorted(Comparator.comparing(Culprit::layer))
                .toList();
    }

    /**
     * Takes the result of the scan at {@code now}. While a culprit is missing but held, calls that waited for it may
     * still be in progress, so new culprits that only calls indicate are ignored.
     */
    Changes look(List<Culprit> shown, long now) {
        Map<String, Culprit> byKey = new LinkedHashMap<>();
        shown.forEach(culprit -> byKey.putIfAbsent(culprit.key(), culprit));
        List<Culprit> missed = new ArrayList<>();
        List<Culprit> cleared = new ArrayList<>();
        for (Map.Entry<String, Held> entry : List.copyOf(held.entrySet())) {
            Held before = entry.getValue();
            if (byKey.containsKey(entry.getKey())) {
                Culprit again = byKey.get(entry.getKey()).as(before.culprit);
                held.put(entry.getKey(), new Held(again, Optional.empty()));
                continue;
            }
            if (before.goneSince.isEmpty()) {
                missed.add(before.culprit);
                held.put(entry.getKey(), new Held(before.culprit, Optional.of(now)));
            } else if (now - before.goneSince.get() >= HOLD.toNanos()) {
                held.remove(entry.getKey());
                cleared.add(before.culprit);
            }
        }
        boolean released = held.values().stream().anyMatch(gone -> gone.goneSince.isPresent());
        List<Culprit> found = new ArrayList<>();
        byKey.forEach((key, culprit) -> {
            if (!held.containsKey(key) && !(released && culprit.toldByCalls())) {
                held.put(key, new Held(culprit, Optional.empty()));
                found.add(culprit);
            }
        });
        return new Changes(found, cleared, missed);
    }
}
