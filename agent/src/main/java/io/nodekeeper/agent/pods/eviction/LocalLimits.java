package io.nodekeeper.agent.pods.eviction;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.stats.PodUse;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;
import java.util.stream.Stream;

/** The limits of what pods have on the node's disk: of a volume, of all containers, of one. As a kubelet's. Stateless. */
final class LocalLimits {
    private static final String STORAGE = "ephemeral-storage";

    private LocalLimits() {}

    /**
     * A limit that a pod exceeds.
     *
     * @param signal the kubelet's name of this kind of limit, for metrics
     * @param message why the pod must end
     */
    record Fault(String signal, String message) {}

    /** Whether there is a limit to measure. */
    static boolean has(Pod pod) {
        return volumes(pod).anyMatch(volume -> size(volume).isPresent())
                || pod.allContainers().stream()
                        .anyMatch(container -> container.limit(STORAGE).isPresent());
    }

    /** Why the pod must end; empty if it is within its limits. */
    static Optional<Fault> fault(Pod pod, PodUse use) {
        return volume(pod, use)
                .map(why -> new Fault("emptydirfs.limit", why))
                .or(() -> pod(pod, use).map(why -> new Fault("ephemeralpodfs.limit", why)))
                .or(() -> container(pod, use).map(why -> new Fault("ephemeralcontainerfs.limit", why)));
    }

    private static Stream<JsonObject> volumes(Pod pod) {
        return pod.spec()
                .array("volumes")
                .objects()
                .filter(volume -> volume.has("emptyDir"))
                .filter(volume -> volume.object("emptyDir").text("medium").isEmpty());
    }

    private static Optional<Quantity> size(JsonObject volume) {
        return volume.object("emptyDir")
                .get("sizeLimit")
                .flatMap(Quantity::from)
                .filter(limit -> !limit.isZero() && !limit.isNegative());
    }

    private static Optional<String> volume(Pod pod, PodUse use) {
        return volumes(pod)
                .flatMap(volume -> size(volume)
                        .filter(limit -> use.volumes().getOrDefault(volume.text("name"), 0L) > limit.toLong())
                        .map(limit -> "Usage of EmptyDir volume \"" + volume.text("name") + "\" exceeds the limit \""
                                + limit + "\". ")
                        .stream())
                .findFirst();
    }

    /** The sum of the limits that there are: a container without one does not free the others' volumes. */
    private static Optional<String> pod(Pod pod, PodUse use) {
        boolean limited = pod.allContainers().stream()
                .anyMatch(container -> container.limit(STORAGE).isPresent());
        return Optional.of(pod.limitOfContainers(STORAGE).plus(pod.overhead(STORAGE)))
                .filter(limit -> limited)
                .filter(limit -> use.disk() > limit.toLong())
                .map(limit ->
                        "Pod ephemeral local storage usage exceeds the total limit of containers " + limit + ". ");
    }

    private static Optional<String> container(Pod pod, PodUse use) {
        return pod.allContainers().stream()
                .flatMap(container -> container
                        .limit(STORAGE)
                        .filter(limit -> Optional.ofNullable(use.containers().get(container.name()))
                                .filter(part -> use.disk(part) > limit.toLong())
                                .isPresent())
                        .map(limit -> "Container " + container.name() + " exceeded its local ephemeral storage limit \""
                                + limit + "\". ")
                        .stream())
                .findFirst();
    }
}
