package io.nodekeeper.agent.pleg;

import io.nodekeeper.time.Backoff;
import java.time.Duration;

/**
 * The parameters of the PLEG. Immutable.
 *
 * @param relistPeriod from the end of a relist to the start of the next
 * @param calmPeriod the same while events of the runtime are received and nothing happens (decision 122)
 * @param relistThreshold the PLEG is healthy while the last list is not older than this
 * @param callDeadline of one list, and in the serial modes of every call
 * @param podDeadline of each status call for a pod, which are sent together unless it has many containers; this and the following
 *     apply to parallel mode only
 * @param parallel how many pods are inspected at once, not counting those beyond {@code patience}
 * @param parallelRetries how many of these may be quarantined pods
 * @param patience an inspection that takes longer no longer counts towards {@code parallel}, but continues
 * @param quarantine the pauses between attempts for a pod whose inspection timed out
 * @param stuckShare the node is unhealthy if the share of quarantined pods exceeds this
 * @param stuckPods and if at least this many pods are quarantined
 * @param recovery how long the PLEG must be healthy without interruption before it reports so
 */
public record PlegConfig(
        Mode mode,
        Duration relistPeriod,
        Duration calmPeriod,
        Duration relistThreshold,
        Duration callDeadline,
        Duration podDeadline,
        int parallel,
        int parallelRetries,
        Duration patience,
        Backoff quarantine,
        double stuckShare,
        int stuckPods,
        Duration recovery) {

    /** Events that may wait for a listener; further ones are dropped (Kubernetes' constant). */
    static final int CHANNEL_CAPACITY = 1000;
    /** The most pending requests for lists of single pods; further pods wait for the list of all (Kubernetes' constant). */
    static final int REQUEST_CAPACITY = 200;
    /**
     * The shortest time between lists that hints trigger: it bounds the calls that a runtime with many events causes
     * (decision 14).
     */
    static final Duration HINTED_LIST_SPACING = Duration.ofMillis(100);
    /** How long nothing must have happened before lists become rare: ten lists that show the same. */
    static final Duration QUIET = Duration.ofSeconds(10);

    /** The parallel algorithm. Period and threshold are Kubernetes'; decision 14 explains the other values. */
    public static final PlegConfig PARALLEL = new PlegConfig(
            Mode.PARALLEL,
            Duration.ofSeconds(1),
            Duration.ofMillis(1_500),
            Duration.ofMinutes(3),
            Duration.ofSeconds(10),
            Duration.ofSeconds(10),
            8,
            2,
            Duration.ofSeconds(1),
            new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(2)),
            0.5,
            5,
            Duration.ofSeconds(30));

    /** Kubernetes 1.32. */
    public static final PlegConfig REFERENCE = reference(Mode.SERIAL, Duration.ofMinutes(2));

    /** Kubernetes 1.21. */
    public static final PlegConfig REFERENCE_1_21 = reference(Mode.SERIAL_TWICE, Duration.ofMinutes(2));

    /** Kubernetes 1.32 with another {@code runtimeRequestTimeout}. */
    public static PlegConfig reference(Duration requestTimeout) {
        return reference(Mode.SERIAL, requestTimeout);
    }

    /** The algorithm. */
    public enum Mode {
        /** Pods are inspected in parallel and concurrently with lists; those that hang are quarantined. */
        PARALLEL,
        /** One call after another; the next list waits for all of them. */
        SERIAL,
        /** The same, and pods that failed in the previous relist are inspected a second time. */
        SERIAL_TWICE
    }

    private static PlegConfig reference(Mode mode, Duration requestTimeout) {
        return new PlegConfig(
                mode,
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                Duration.ofMinutes(3),
                requestTimeout,
                requestTimeout,
                1,
                1,
                requestTimeout,
                new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(1)),
                1.0,
                1,
                Duration.ZERO);
    }
}
