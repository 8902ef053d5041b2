package io.nodekeeper.apiserver.netty;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes that all connections together may hold of one sort. Thread-safe. */
final class MemoryBudget {
    private final long limit;
    private final AtomicLong held = new AtomicLong();

    MemoryBudget(long limit) {
        this.limit = limit;
    }

    /** Takes {@code bytes} if they are left; whoever got them gives them back. */
    boolean take(long bytes) {
        if (held.addAndGet(bytes) <= limit) {
            return true;
        }
        held.addAndGet(-bytes);
        return false;
    }

    /** Whether {@code bytes} are left now. */
    boolean has(long bytes) {
        return held.get() + bytes <= limit;
    }

    void giveBack(long bytes) {
        held.addAndGet(-bytes);
    }
}
