package io.nodekeeper.agent.pods.sources;

import java.util.HashMap;
import java.util.Map;

/** The memory that the pods of the API may take together, whoever creates them. Not thread-safe. */
final class PodRoom {
    private final long limit;
    /** The bytes of each pod by its UID. */
    private final Map<String, Long> held = new HashMap<>();

    private long used;

    /** Room for {@code limit} bytes. */
    PodRoom(long limit) {
        this.limit = limit;
    }

    /** Whether there are {@code bytes} for the pod, in place of what it holds. If so it holds them from now on. */
    boolean take(String uid, long bytes) {
        return take(uid, bytes, limit);
    }

    /** As {@link #take}, for a pod that has ended: those leave half of the room to others. */
    boolean takeForEnded(String uid, long bytes) {
        return take(uid, bytes, limit / 2);
    }

    private boolean take(String uid, long bytes, long most) {
        boolean fits = used + bytes - held.getOrDefault(uid, 0L) <= most;
        if (fits) {
            hold(uid, bytes);
        }
        return fits;
    }

    /** The pod holds {@code bytes}, also beyond the limit. */
    void hold(String uid, long bytes) {
        release(uid);
        held.put(uid, bytes);
        used += bytes;
    }

    void release(String uid) {
        Long bytes = held.remove(uid);
        used -= bytes == null ? 0 : bytes;
    }
}
