package io.nodekeeper.time;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Random lengthening of pauses, so that the members of a fleet do not act at the same time. */
public final class Jitter {
    private Jitter() {}

    /**
     * {@code wait} × (1 + u × {@code factor}), u uniform in [0, 1): jitter only lengthens (Kubernetes'
     * {@code wait.Jitter}).
     */
    public static Duration stretch(Duration wait, double factor, RandomGenerator random) {
        return factor == 0 ? wait : wait.plusNanos((long) (wait.toNanos() * factor * random.nextDouble()));
    }
}
