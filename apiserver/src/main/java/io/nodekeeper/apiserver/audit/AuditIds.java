package io.nodekeeper.apiserver.audit;

import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * Creates unique UUIDs for requests. They need not be hard to guess, and 16 secure random bytes cost more than all
 * other work on a request's headers. It therefore counts from a random start, and spreads the count over all bits (the
 * finalizer of SplitMix64). Thread-safe.
 */
public final class AuditIds {
    private static final long VERSION = 0x4000L;
    private static final long VARIANT = 0x8000000000000000L;

    private final long high;
    private final AtomicLong count;

    public AuditIds(RandomGenerator random) {
        high = random.nextLong();
        count = new AtomicLong(random.nextLong());
    }

    public String next() {
        long mixed = mix(count.getAndIncrement());
        long most = (mix(mixed ^ high) & ~0xf000L) | VERSION;
        return new UUID(most, (mixed >>> 2) | VARIANT).toString();
    }

    private static long mix(long value) {
        long once = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
        long twice = (once ^ (once >>> 27)) * 0x94d049bb133111ebL;
        return twice ^ (twice >>> 31);
    }
}
