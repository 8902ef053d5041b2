package io.nodekeeper.apiserver.netty;

import java.util.HashMap;
import java.util.Map;

/**
 * Bytes that the bodies of all requests under way may take, shared by their users. A user may hold half as much as is left
 * free, so one user alone gets a third of all, ten users a twelfth each, and however many there are, a new one finds
 * something. Thread-safe.
 */
final class FairMemoryBudget {
    private final long limit;
    /** By user; only those who hold something, so at most one for each request under way. */
    private final Map<String, Long> held = new HashMap<>();

    private long total;

    FairMemoryBudget(long limit) {
        this.limit = limit;
    }

    /** Takes {@code bytes} for {@code user} if their share allows; they are to be given back. */
    synchronized boolean take(String user, long bytes) {
        long after = held.getOrDefault(user, 0L) + bytes;
        if (after > (limit - total - bytes) / 2) {
            return false;
        }
        held.put(user, after);
        total += bytes;
        return true;
    }

    /** Gives back what was taken. */
    synchronized void giveBack(String user, long bytes) {
        total -= bytes;
        held.computeIfPresent(user, (name, had) -> had > bytes ? had - bytes : null);
    }
}
