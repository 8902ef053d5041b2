package io.nodekeeper.apiserver.flowcontrol;

import java.util.HashMap;
import java.util.Map;

/**
 * Limits the bytes that all connections together use for one purpose, and shares them among users, by their {@linkplain
 * io.nodekeeper.apiserver.request.User#flow flow}. A user may hold half as
 * much as is free. So one user gets a third of all, ten users get a twelfth each, and there is always something left for a
 * new user. Thread-safe.
 */
public final class FairMemoryBudget {
    private final long limit;
    /** Up to how many bytes of all a user who holds none may take more than the share. */
    private final long whole;
    /** By user. Only users that hold bytes have an entry, so at most one per active request. */
    private final Map<String, Long> held = new HashMap<>();

    private long total;

    /** A budget of {@code limit} bytes. */
    public FairMemoryBudget(long limit) {
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
    public static FairMemoryBudget withWholes(long limit) {
        return new FairMemoryBudget(limit, limit - limit / 8);
    }

    /** Reserves {@code bytes} for {@code user} if the user's share allows it; the caller must return them. */
    public synchronized boolean take(String user, long bytes) {
        if (!has(user, bytes)) {
            return false;
        }
        add(user, bytes);
        return true;
    }

    /** Reserves {@code bytes} for {@code user} whatever the share is; the caller must return them. */
    synchronized void add(String user, long bytes) {
        held.merge(user, bytes, Long::sum);
        total += bytes;
    }

    /** Whether {@link #take} would reserve {@code bytes} now. */
    public synchronized boolean has(String user, long bytes) {
        long before = held.getOrDefault(user, 0L);
        return before + bytes <= (limit - total - bytes) / 2 || (before == 0 && total + bytes <= whole);
    }

    /** Returns reserved bytes. */
    public synchronized void giveBack(String user, long bytes) {
        total -= bytes;
        held.computeIfPresent(user, (name, had) -> had > bytes ? had - bytes : null);
    }
}
