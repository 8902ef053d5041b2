package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Toleration;
import io.nodekeeper.client.events.ObjectRef;
import io.nodekeeper.time.DeadlineWheel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered of one pod, a few hundred bytes: never the Pod itself. Identified by its UID; another pod of its
 * name is another one. Written by {@link PodCache} as far as it tells what the API says. Confined to the loop.
 */
final class TrackedPod {
    /** Stands for a time that is not there. */
    static final long NO_TIME = Long.MIN_VALUE;

    final String namespace;
    final String name;
    final String uid;

    /** Where it runs; the node without a name as long as it is not scheduled. */
    HostNode node;
    /** Its index among the node's pods. */
    int place;
    /** The newest version that was seen. */
    String version = "";

    long created = NO_TIME;
    /** Whether it ran to its end. */
    boolean finished;
    /** Whether it has a deletionTimestamp. */
    boolean terminating;
    /** The status of its Ready condition; empty if it has none. */
    String ready = "";
    /** When that began, in seconds since 1970 by whoever wrote it; or {@link #NO_TIME}. */
    long readySince = NO_TIME;

    List<Toleration> tolerations = List.of();

    /** When it has to leave; made when first needed. */
    DeadlineWheel.@Nullable Deadline<TrackedPod> timer;
    /** Whether the API accepted its deletion, or told that it is gone; the watch is about to tell, too. */
    boolean deleted;
    /** When it was marked last, by the monotonic clock; or {@link #NO_TIME}. */
    long markedAt = NO_TIME;
    /** The {@link HostNode#readySince} for which that was. */
    long markedFor = NO_TIME;

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
