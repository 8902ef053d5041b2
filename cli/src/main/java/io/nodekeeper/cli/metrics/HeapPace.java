package io.nodekeeper.cli.metrics;

import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * Decides when a server or a controller collects its whole heap. The serial collector lets the old generation grow to its limit before
 * it does that: at 1,000 renewals a second a server that needs 110 MB had 1 GB after half an hour, and a controller that needs 20 MB had
 * 170 MB more after two minutes of 2,000 a second (measured). So the old generation is also collected once half of what the last
 * collection left has been added, and at least a fixed amount: the same work for each byte, whatever the load, and nothing while the
 * process is calm. Not thread-safe.
 */
public final class HeapPace {
    /** How often to look: at 10,000 renewals a second the generation grows by 15 MB meanwhile, and garbage makes a collection longer. */
    public static final Duration EVERY = Duration.ofSeconds(2);
    /** Bytes that an API server's small heap may grow by: a minute and a half of 1,000 renewals a second. */
    public static final long SERVER = 64L << 20;
    /** The same for a controller, whose heap is smaller and grows by less than 1 MB a second at that load. */
    public static final long CONTROLLER = 16L << 20;

    private final long least;
    private long left;

    /** {@code left} bytes were used after the start; less than {@code least} more is never a reason. */
    HeapPace(long least, long left) {
        this.least = least;
        this.left = left;
    }

    /** For the heap of this process, which may grow by {@code least} bytes. */
    public static HeapPace ofThisProcess(long least) {
        return new HeapPace(least, used());
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
        return used - left >= Math.max(least, left / 2);
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
