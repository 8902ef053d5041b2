package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pods.model.Pod;
import java.time.Duration;

/**
 * What a source wants of a pod. Immutable.
 *
 * @param pod the newest version
 * @param run whether it shall run; otherwise everything of it shall end and be removed
 * @param grace the time that its containers have to end
 * @param inApi whether the API has an object to delete at the end
 */
public record Wanted(Pod pod, boolean run, Duration grace, boolean inApi) {

    /** A pod as the API shows it: it ends once it has a deletion timestamp. */
    public static Wanted ofApi(Pod pod) {
        return new Wanted(pod, pod.deletionTimestamp().isEmpty(), pod.grace(), true);
    }

    /** A pod that no source has any more. */
    public static Wanted gone(Pod pod, Duration grace) {
        return new Wanted(pod, false, grace, false);
    }
}
