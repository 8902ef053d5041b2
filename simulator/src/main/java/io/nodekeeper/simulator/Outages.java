package io.nodekeeper.simulator;

import java.time.Duration;

/** The durations of random outages. */
final class Outages {
    /** The shortest outage, seconds: far below the grace, so that most such nodes must not be marked. */
    private static final double SHORTEST_SECONDS = 2;
    /** The longest outage, seconds: far beyond the grace and most tolerations. */
    private static final double LONGEST_SECONDS = 300;

    private Outages() {}

    /**
     * A log-uniform duration: as many are between 2 s and 20 s as between 20 s and 200 s; {@code share} is uniform in
     * [0, 1).
     */
    static Duration duration(double share) {
        double seconds = SHORTEST_SECONDS * Math.pow(LONGEST_SECONDS / SHORTEST_SECONDS, share);
        return Duration.ofMillis((long) (seconds * 1_000));
    }
}
