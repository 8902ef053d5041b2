package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Toleration;
import io.nodekeeper.client.events.ObjectRef;
import io.nodekeeper.time.DeadlineWheel;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of one pod, a few hundred bytes: never the Pod itself. Identified by its UID; a recreated pod of the same
 * name is another one. {@link PodCache} writes the parts that come from the API. Confined to the loop.
 */
final class TrackedPod {
    /** Those of a pod's tolerations that matter for these taints. */
    private record Learned(List<ActiveTaint> taints, List<Toleration> tolerations) {}

    final String namespace;
    final String name;
    final String uid;

    /** The node on which it runs; the node with an empty name if it is not scheduled. */
    HostNode node;
    /** Its index among the node's pods. */
    int place;
    /** The newest version that was seen. */
    String version = "";

    /** Its {@code creationTimestamp}, in seconds since 1970 by the API server's clock; or {@link HostNode#NO_TIME}. */
    long created = HostNode.NO_TIME;
    /**
     * The latest moment at which it can have been created, by the clock of {@link ActiveTaint#since}; computed when first
     * needed, until then {@link HostNode#NO_TIME}.
     */
    long createdBy = HostNode.NO_TIME;
    /** Whether it has finished. */
    boolean finished;
    /** Whether it has failed because its node evicted it. */
    boolean evicted;
    /** Whether it has a deletionTimestamp. */
    boolean terminating;
    /** The status of its Ready condition; empty if it has none. */
    String ready = "";
    /** When that began, in seconds since 1970 by its writer's clock; or {@link HostNode#NO_TIME}. */
    long readySince = HostNode.NO_TIME;

    /** The first {@link PodParts#TOLERATIONS} that can decide. */
    private List<Toleration> tolerations = List.of();
    /** Whether there are more. */
    private boolean hasMore;
    /** What a read returned since they were set; at most one for each taint of the node. */
    private @Nullable Learned learned;

    /** When it must leave; created when first needed. */
    DeadlineWheel.@Nullable Deadline<TrackedPod> timer;
    /** Whether the API accepted its deletion, or reported that it does not exist; the watch will send that, too. */
    boolean deleted;
    /** When the API last accepted its deletion without a grace period, by the monotonic clock; or {@link HostNode#NO_TIME}. */
    long collectedAt = HostNode.NO_TIME;
    /** When it was last marked, by the monotonic clock; or {@link HostNode#NO_TIME}. */
    long markedAt = HostNode.NO_TIME;
    /** The {@link HostNode#readySince} for which that was. */
    long markedFor = HostNode.NO_TIME;

    TrackedPod(String namespace, String name, String uid, HostNode node) {
        this.namespace = namespace;
        this.name = name;
        this.uid = uid;
        this.node = node;
    }

    /** Sets the tolerations of a state of the pod; whether they may be others than before. */
    boolean tolerations(List<Toleration> first, boolean more, boolean sameVersion) {
        boolean same = first.equals(tolerations) && more == hasMore && (sameVersion || !more);
        tolerations = first;
        hasMore = more;
        if (!same) {
            learned = null;
        }
        return !same;
    }

    /** The current state in the API has these tolerations that matter for {@code taints}. */
    void learned(List<ActiveTaint> taints, List<Toleration> matter) {
        learned = hasMore ? new Learned(taints, matter) : null;
    }

    /** The tolerations that decide about {@code taints}; empty if they may be among those that are not kept. */
    Optional<List<Toleration>> tolerationsFor(List<ActiveTaint> taints) {
        if (!hasMore) {
            return Optional.of(tolerations);
        }
        if (learned != null && learned.taints.equals(taints)) {
            return Optional.of(learned.tolerations);
        }
        TolerationIndex index = TolerationIndex.of(tolerations);
        return taints.stream().allMatch(taint -> index.firstFor(taint).isPresent())
                ? Optional.of(tolerations)
                : Optional.empty();
    }

    /** A reference for events. */
    ObjectRef reference() {
        return new ObjectRef("v1", "Pod", namespace, name, uid);
    }

    /** {@code namespace/name}, as in messages. */
    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
