package io.nodekeeper.cli.metrics;

import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * Decides when a server collects its whole heap. The serial collector lets the old generation grow to its limit before it does that:
 * at 1,000 renewals a second a server that needs 110 MB had 1 GB after half an hour (measured). So the old generation is also
 * collected once half of what the last collection left has been added, and at least {@link #LEAST}: the same work for each byte,
 * whatever the load, and nothing while the server is calm. Not thread-safe.
 */
public final class HeapPace {
    /** How often to look. */
    public static final Duration EVERY = Duration.ofSeconds(10);
    /** Bytes that a small heap may grow by: a minute and a half of 1,000 renewals a second. */
    static final long LEAST = 64L << 20;

    private long left;

    /** {@code left} bytes were used after the start. */
    HeapPace(long left) {
        this.left = left;
    }

    /** For the heap of this process. */
    public static HeapPace ofThisProcess() {
        return new HeapPace(used());
    }

    /** Collects the heap of this process if it is time for that. */
    public void look() {
        if (isDue(used())) {
            System.gc();
            collected(used());
        }
    }

    /** Whether an old generation of {@code used} bytes has grown enough. */
    boolean isDue(long used) {
        // The collector may have collected by itself meanwhile.
        left = Math.min(left, used);
        return used - left >= Math.max(LEAST, left / 2);
    }

    /** A collection left {@code used} bytes. */
    void collected(long used) {
        left = used;
    }

    /** Bytes of the generation that only a collection of the whole heap frees; 0 with a collector that has none. */
    private static long used() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getName().equals("Tenured Gen"))
                .mapToLong(pool -> pool.getUsage().getUsed())
                .sum();
    }
}
