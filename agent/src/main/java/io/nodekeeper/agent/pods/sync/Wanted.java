package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pods.model.Pod;
import java.time.Duration;
import java.util.Optional;

/**
 * What a source or the node wants of a pod. Immutable.
 *
 * @param pod the newest version
 * @param run whether it shall run; otherwise everything of it shall end and be removed
 * @param grace the time that its containers have to end
 * @param inApi whether the API has an object to delete at the end
 * @param eviction why the node ends the pod, which then stays in the API as Failed; empty if a source ends it
 */
public record Wanted(Pod pod, boolean run, Duration grace, boolean inApi, Optional<Eviction> eviction) {

    /**
     * Why a node ends or refuses a pod: the reason and message of its status.
     *
     * @param disrupted whether it is no fault of the pod's, which the condition {@code DisruptionTarget} then says
     */
    public record Eviction(String reason, String message, boolean disrupted) {}

    /** A pod as the API shows it: it ends once it has a deletion timestamp. */
    public static Wanted ofApi(Pod pod) {
        return new Wanted(pod, pod.deletionTimestamp().isEmpty(), pod.grace(), true, Optional.empty());
    }

    /** A pod that the node itself is told to run. */
    public static Wanted ofManifest(Pod pod) {
        return new Wanted(pod, true, pod.grace(), false, Optional.empty());
    }

    /** A pod that no source has any more. */
    public static Wanted gone(Pod pod, Duration grace) {
        return new Wanted(pod, false, grace, false, Optional.empty());
    }

    /** The pod, which the node ends. */
    public Wanted evicted(Duration inTime, Eviction why) {
        return new Wanted(pod, false, inTime, false, Optional.of(why));
    }

    /** What counts when a source now wants {@code next}: a pod that once had to end does not run again. */
    public Wanted then(Wanted next) {
        if (run) {
            return next;
        }
        // A new version of a pod that the node ends, such as with its status, is no request to delete it.
        return next.run
                ? new Wanted(next.pod, false, grace, inApi, eviction)
                : new Wanted(next.pod, false, next.grace, next.inApi, eviction);
    }
}
