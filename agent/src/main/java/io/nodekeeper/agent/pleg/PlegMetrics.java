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

    /** {@code pleg_relist_interval_seconds}: from the begin of a relist to that of the next. */
    default void relistInterval(Duration interval) {}

    /** {@code pleg_last_seen_seconds}: when the last list that succeeded began. Told with each such list; in the serial modes at
     * each look at the health. */
    default void lastSeen(Instant time) {}

    /** {@code pleg_discard_events}: an event was dropped because its channel was full. */
    default void discarded() {}

    /** {@code pleg_pod_relist_duration_seconds}: the list of a single pod ended, or failed. */
    default void podRelistEnded(Duration duration) {}

    /** {@code running_pods} and {@code running_containers}; every state is there. */
    default void running(int pods, Map<ContainerState, Integer> containers) {}

    /** How many pods are in quarantine. */
    default void stuck(int pods) {}
}
