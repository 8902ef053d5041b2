package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonMemory;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits the memory of all pods of the API together. Ended pods may use half of the limit and large pods three quarters, so that
 * ordinary pods have room. Outlines do not count, because they are small. Not thread-safe.
 */
final class PodRoom {
    /** A pod is large from this part of the limit on: that of an agent's heap is half a megabyte, ten times an ordinary pod. */
    private static final int LARGE = 64;

    private final long limit;
    private final Map<String, Share> shares = new HashMap<>();
    private long used;
    private long usedByEnded;

    /** What a pod holds, by its UID. */
    private record Share(long bytes, boolean ended) {}

    /** Room for {@code limit} bytes. */
    PodRoom(long limit) {
        this.limit = limit;
    }

    /** Whether there is room for {@code pod}, in place of what it holds. If so it holds that from now on. */
    boolean take(Pod pod) {
        Share former = shares.get(pod.uid());
        long bytes = JsonMemory.of(pod.json());
        release(pod.uid());
        long most = bytes > limit / LARGE ? limit - limit / 4 : limit;
        boolean fits = used + bytes <= most && (!pod.isTerminal() || usedByEnded + bytes <= limit / 2);
        if (fits) {
            put(pod.uid(), new Share(bytes, pod.isTerminal()));
        } else if (former != null) {
            put(pod.uid(), former);
        }
        return fits;
    }

    /** The pod holds what it takes, also beyond the limit. */
    void hold(Pod pod) {
        release(pod.uid());
        if (!pod.isOutline()) {
            put(pod.uid(), new Share(JsonMemory.of(pod.json()), pod.isTerminal()));
        }
    }

    void release(String uid) {
        Share share = shares.remove(uid);
        if (share != null) {
            used -= share.bytes;
            usedByEnded -= share.ended ? share.bytes : 0;
        }
    }

    private void put(String uid, Share share) {
        shares.put(uid, share);
        used += share.bytes;
        usedByEnded += share.ended ? share.bytes : 0;
    }
}
