package io.nodekeeper.agent.pleg;

import io.nodekeeper.time.Backoff;
import java.time.Duration;

/**
 * How the PLEG goes about it. Immutable.
 *
 * @param relistPeriod from the end of a relist to the begin of the next
 * @param relistThreshold healthy while the last list is not older
 * @param callDeadline of one list, and in the serial modes of every call
 * @param podDeadline of all status calls of one pod together; parallel mode only, as all that follows
 * @param parallel how many pods are inspected at once, those beyond {@code patience} not counted
 * @param parallelRetries how many of these may be pods in quarantine
 * @param patience an inspection that takes longer makes room for the next, and goes on
 * @param quarantine the waits of a pod that ran out of time
 * @param stuckShare the share of all pods that must be exceeded by those in quarantine for the node to be unhealthy
 * @param stuckPods how many must be in quarantine for that at least
 * @param recovery how long it must have been healthy again before it says so
 */
public record PlegConfig(
        Mode mode,
        Duration relistPeriod,
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
    /** Pods whose own list may be outstanding; further ones wait for the list of all (Kubernetes' constant). */
    static final int REQUEST_CAPACITY = 200;
    /**
     * The shortest time between lists that hints trigger: it bounds the calls that a runtime with many events causes
     * (decision 14).
     */
    static final Duration HINTED_LIST_SPACING = Duration.ofMillis(100);

    /** The parallel algorithm. Period and threshold are Kubernetes'; decision 14 explains the other values. */
    public static final PlegConfig PARALLEL = new PlegConfig(
            Mode.PARALLEL,
            Duration.ofSeconds(1),
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
        /** Pods are inspected beside each other and beside the lists; those that hang wait in quarantine. */
        PARALLEL,
        /** One call after another; the next list waits for all of them. */
        SERIAL,
        /** The same, and what failed in the relist before is inspected a second time. */
        SERIAL_TWICE
    }

    private static PlegConfig reference(Mode mode, Duration requestTimeout) {
        return new PlegConfig(
                mode,
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
