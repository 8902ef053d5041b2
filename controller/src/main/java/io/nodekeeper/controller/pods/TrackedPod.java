package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Toleration;
import io.nodekeeper.client.events.ObjectRef;
import io.nodekeeper.time.DeadlineWheel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of one pod, a few hundred bytes: never the Pod itself. Identified by its UID; a recreated pod of the same
 * name is another one. {@link PodCache} writes the parts that come from the API. Confined to the loop.
 */
final class TrackedPod {
    final String namespace;
    final String name;
    final String uid;

    /** The node on which it runs; the node with an empty name if it is not scheduled. */
    HostNode node;
    /** Its index among the node's pods. */
    int place;
    /** The newest version that was seen. */
    String version = "";

    long created = HostNode.NO_TIME;
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

    List<Toleration> tolerations = List.of();

    /** When it must leave; created when first needed. */
    DeadlineWheel.@Nullable Deadline<TrackedPod> timer;
    /** Whether the API accepted its deletion, or reported that it does not exist; the watch will send that, too. */
    boolean deleted;
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
