package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.ContainerState;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** Receives the measurements of the PLEG, under the names of Kubernetes' metrics. Called on the loop. */
public interface PlegMetrics {
    /** Ignores all measurements. */
    PlegMetrics NONE = new PlegMetrics() {};

    /** {@code pleg_relist_duration_seconds}: a relist ended, or failed. */
    default void relistEnded(Duration duration) {}

    /** {@code pleg_relist_interval_seconds}: the time between the starts of two relists. */
    default void relistInterval(Duration interval) {}

    /**
     * {@code pleg_last_seen_seconds}: when the last successful list began. Reported with each such list; in the serial
     * modes each time the health is read.
     */
    default void lastSeen(Instant time) {}

    /** {@code pleg_discard_events}: an event was dropped because its channel was full. */
    default void discarded() {}

    /** {@code pleg_pod_relist_duration_seconds}: the list of a single pod ended, or failed. */
    default void podRelistEnded(Duration duration) {}

    /** {@code running_pods} and {@code running_containers}; every state has an entry. */
    default void running(int pods, Map<ContainerState, Integer> containers) {}

    /** The number of quarantined pods. */
    default void stuck(int pods) {}
}
