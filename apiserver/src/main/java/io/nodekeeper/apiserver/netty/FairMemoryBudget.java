package io.nodekeeper.apiserver.netty;

import java.util.HashMap;
import java.util.Map;

/**
 * Limits the bytes that all connections together use for one purpose, and shares them among users. A user may hold half as
 * much as is free. So one user gets a third of all, ten users get a twelfth each, and there is always something left for a
 * new user. Thread-safe.
 */
final class FairMemoryBudget {
    private final long limit;
    /** Up to how many bytes of all a user who holds none may take more than the share. */
    private final long whole;
    /** By user. Only users that hold bytes have an entry, so at most one per active request. */
    private final Map<String, Long> held = new HashMap<>();

    private long total;

    FairMemoryBudget(long limit) {
        this(limit, 0);
    }

    private FairMemoryBudget(long limit, long whole) {
        this.limit = limit;
        this.whole = whole;
    }

    /**
     * A budget for pieces that cannot be made smaller, such as lists: the only piece of a user may be larger than the share,
     * but leaves an eighth of all for other users.
     */
    static FairMemoryBudget withWholes(long limit) {
        return new FairMemoryBudget(limit, limit - limit / 8);
    }

    /** Reserves {@code bytes} for {@code user} if the user's share allows it; the caller must return them. */
    synchronized boolean take(String user, long bytes) {
        if (!has(user, bytes)) {
            return false;
        }
        held.merge(user, bytes, Long::sum);
        total += bytes;
        return true;
    }

    /** Whether {@link #take} would reserve {@code bytes} now. */
    synchronized boolean has(String user, long bytes) {
        long before = held.getOrDefault(user, 0L);
        return before + bytes <= (limit - total - bytes) / 2 || (before == 0 && total + bytes <= whole);
    }

    /** Returns reserved bytes. */
    synchronized void giveBack(String user, long bytes) {
        total -= bytes;
        held.computeIfPresent(user, (name, had) -> had > bytes ? had - bytes : null);
    }
}
