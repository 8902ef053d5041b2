package io.nodekeeper.agent.pods.model;

import java.util.List;
import java.util.function.Predicate;

/**
 * How many pods a node has. Immutable.
 *
 * @param desired of the API that the node shall run
 * @param desiredStatic static ones that it shall run
 * @param active those of {@code desired} that were admitted and run or will run
 * @param activeStatic the same of {@code desiredStatic}
 * @param mirrors copies of static pods in the API
 */
public record PodCounts(long desired, long desiredStatic, long active, long activeStatic, long mirrors) {

    /**
     * Counts {@code desired} and {@code active}.
     *
     * @param isStatic whether the pod with that UID is static
     */
    public static PodCounts of(List<Pod> desired, List<Pod> active, Predicate<String> isStatic, long mirrors) {
        long desiredStatic = desired.stream().map(Pod::uid).filter(isStatic).count();
        long activeStatic = active.stream().map(Pod::uid).filter(isStatic).count();
        return new PodCounts(
                desired.size() - desiredStatic, desiredStatic, active.size() - activeStatic, activeStatic, mirrors);
    }
}
