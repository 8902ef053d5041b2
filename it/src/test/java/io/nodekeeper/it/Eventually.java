package io.nodekeeper.it;

import java.time.Duration;

/** Waits for a condition. */
public final class Eventually {
    private Eventually() {}

    /** A condition. */
    public interface Condition {
        boolean holds() throws Exception;
    }

    /** Polls until {@code condition} holds; fails after {@code limit}. */
    public static void within(Duration limit, Condition condition) throws Exception {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("did not come to pass within " + limit);
            }
            Thread.sleep(5);
        }
    }
}
