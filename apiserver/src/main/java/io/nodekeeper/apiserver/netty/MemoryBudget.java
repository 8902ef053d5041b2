package io.nodekeeper.apiserver.netty;

import java.util.concurrent.atomic.AtomicLong;

/** Limits the bytes that all connections together use for one purpose. Thread-safe. */
final class MemoryBudget {
    private final long limit;
    private final AtomicLong held = new AtomicLong();

    MemoryBudget(long limit) {
        this.limit = limit;
    }

    /** Reserves {@code bytes} if they are free; the caller must return them with {@link #giveBack}. */
    boolean take(long bytes) {
        if (held.addAndGet(bytes) <= limit) {
            return true;
        }
        held.addAndGet(-bytes);
        return false;
    }

    /** Whether {@code bytes} are free now. */
    boolean has(long bytes) {
        return held.get() + bytes <= limit;
    }

    void giveBack(long bytes) {
        held.addAndGet(-bytes);
    }
}
