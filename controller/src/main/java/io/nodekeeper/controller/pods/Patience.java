package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Toleration;
import java.util.List;
import java.util.Optional;

/** Computes how long a pod may stay on a node with NoExecute taints. Pure. */
sealed interface Patience {
    /** Without limit: every taint, if any, is tolerated for ever. */
    record Endless() implements Patience {}

    /** Not at all: {@code taint} is not tolerated. */
    record None(ActiveTaint taint) implements Patience {}

    /** Until the monotonic time {@code at}, when its toleration of {@code taint} ends; that may have passed. */
    record Until(long at, ActiveTaint taint) implements Patience {}

    /** When a toleration ends. */
    interface End {
        /** The monotonic time at which a toleration of {@code taint} for that many seconds ends. */
        long at(ActiveTaint taint, long seconds);
    }

    /** 100 years: longer tolerations do not fit into nanoseconds since 1970. */
    long LONGEST_SECONDS = 3_155_760_000L;

    /**
     * The patience of a pod whose tolerations each count from their taint's time, or from the pod's creation if that is
     * later: a pod that is created on a node with an old taint stays as long as it tolerates that, otherwise its owner
     * and this controller would create and delete pods without a pause. A toleration of zero seconds ends immediately;
     * it does not wait for the end of the second of {@code timeAdded}.
     *
     * @param createdBy the latest moment at which the pod can have been created, by the clock of the taints' times
     */
    static Patience of(List<Toleration> tolerations, List<ActiveTaint> taints, long createdBy) {
        return of(
                tolerations,
                taints,
                (taint, seconds) -> Math.max(taint.since(), createdBy)
                        + (seconds == 0 ? -ActiveTaint.RESOLUTION : seconds * 1_000_000_000L));
    }

    /**
     * The patience in the reference: tolerations count from {@code now}, when they were first evaluated, and a deadline
     * is never moved.
     *
     * @param pending that deadline, if one is set
     */
    static Patience asReference(
            List<Toleration> tolerations, List<ActiveTaint> taints, long now, Optional<Long> pending) {
        Patience patience = of(tolerations, taints, (taint, seconds) -> now + seconds * 1_000_000_000L);
        return patience instanceof Until until ? new Until(pending.orElse(until.at()), until.taint()) : patience;
    }

    private static Patience of(List<Toleration> tolerations, List<ActiveTaint> taints, End end) {
        if (taints.isEmpty()) {
            return new Endless();
        }
        TolerationIndex index = TolerationIndex.of(tolerations);
        Optional<Until> first = Optional.empty();
        for (ActiveTaint taint : taints) {
            Optional<Toleration> used = index.firstFor(taint);
            if (used.isEmpty()) {
                return new None(taint);
            }
            if (used.get().seconds().isPresent()) {
                long seconds = Math.clamp(used.get().seconds().get(), 0, LONGEST_SECONDS);
                long at = end.at(taint, seconds);
                if (first.isEmpty() || at < first.get().at()) {
                    first = Optional.of(new Until(at, taint));
                }
            }
        }
        return first.<Patience>map(until -> until).orElseGet(Endless::new);
    }
}
