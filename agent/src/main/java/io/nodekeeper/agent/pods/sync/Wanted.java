package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.Optional;

/**
 * What a source or the node wants of a pod. Immutable.
 *
 * @param pod the newest version
 * @param run whether it shall run; otherwise everything of it shall end and be removed
 * @param grace the time that its source gives its containers to end
 * @param most the most time that the node gives them; empty if the node does not end the pod
 * @param inApi whether the API has an object to delete at the end
 * @param eviction why the node ends the pod, which is then Failed, and stays in the API unless it is deleted; empty if only a source
 *     ends it
 */
public record Wanted(
        Pod pod, boolean run, Duration grace, Optional<Duration> most, boolean inApi, Optional<Eviction> eviction) {

    /**
     * Why a node ends or refuses a pod: the reason and message of its status.
     *
     * @param disrupted whether it is no fault of the pod's, which the condition {@code DisruptionTarget} then says
     */
    public record Eviction(String reason, String message, boolean disrupted) {}

    /** A pod as the API shows it: it ends once it has a deletion timestamp. */
    public static Wanted ofApi(Pod pod) {
        boolean run = pod.deletionTimestamp().isEmpty();
        return new Wanted(pod, run, pod.grace(), Optional.empty(), true, Optional.empty());
    }

    /** A pod that the node itself is told to run. */
    public static Wanted ofManifest(Pod pod) {
        return new Wanted(pod, true, pod.grace(), Optional.empty(), false, Optional.empty());
    }

    /** A pod that no source has any more. */
    public static Wanted gone(Pod pod, Duration grace) {
        return new Wanted(pod, false, grace, Optional.empty(), false, Optional.empty());
    }

    /** What is left of a pod of which no source has anything. */
    public static Wanted leftOver(String uid, String namespace, String name) {
        JsonObject metadata = JsonObject.builder()
                .put("name", name)
                .put("namespace", namespace)
                .put("uid", uid)
                .build();
        Pod pod = new Pod(JsonObject.builder().put("metadata", metadata).build());
        return gone(pod, pod.grace());
    }

    /** The pod, which the node ends. One that is being deleted is deleted all the same, perhaps sooner. */
    public Wanted evicted(Duration inTime, Eviction why) {
        return new Wanted(pod, false, grace, Optional.of(within(inTime)), !run && inApi, Optional.of(why));
    }

    /** The same with no more than {@code inTime} to end. */
    public Wanted shortened(Duration inTime) {
        return new Wanted(pod, run, grace, Optional.of(within(inTime)), inApi, eviction);
    }

    /** {@code time}, or less if the node gives less. */
    public Duration within(Duration time) {
        return most.filter(limit -> limit.compareTo(time) < 0).orElse(time);
    }

    /**
     * What counts when a source now wants {@code next}: a pod that once had to end does not run again, and does not get back the time that
     * the node has taken.
     */
    public Wanted then(Wanted next) {
        if (run) {
            return next;
        }
        // A new version of a pod that the node ends, such as with its status, is no request to delete it.
        return next.run
                ? new Wanted(next.pod, false, grace, most, inApi, eviction)
                : new Wanted(next.pod, false, next.grace, most, next.inApi, eviction);
    }
}
