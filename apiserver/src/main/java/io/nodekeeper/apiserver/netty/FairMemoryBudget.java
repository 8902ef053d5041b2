package io.nodekeeper.apiserver.netty;

import java.util.HashMap;
import java.util.Map;

/**
 * Limits the bytes of all incoming request bodies, and shares them among users. A user may hold half as much as is free.
 * So one user gets a third of all, ten users get a twelfth each, and there is always something left for a new user.
 * Thread-safe.
 */
final class FairMemoryBudget {
    private final long limit;
    /** By user. Only users that hold bytes have an entry, so at most one per active request. */
    private final Map<String, Long> held = new HashMap<>();

    private long total;

    FairMemoryBudget(long limit) {
        this.limit = limit;
    }

    /** Reserves {@code bytes} for {@code user} if the user's share allows it; the caller must return them. */
    synchronized boolean take(String user, long bytes) {
        long after = held.getOrDefault(user, 0L) + bytes;
        if (after > (limit - total - bytes) / 2) {
            return false;
        }
        held.put(user, after);
        total += bytes;
        return true;
    }

    /** Returns reserved bytes. */
    synchronized void giveBack(String user, long bytes) {
        total -= bytes;
        held.computeIfPresent(user, (name, had) -> had > bytes ? had - bytes : null);
    }
}
