package io.nodekeeper.agent.pods.eviction;

import io.nodekeeper.agent.eviction.EvictionSignal;
import java.time.Duration;

/** Counts evictions. Called on the agent's loop. */
public interface EvictionMetrics {
    /** Counts nothing. */
    EvictionMetrics NONE = new EvictionMetrics() {
        @Override
        public void evicted(String signal) {}

        @Override
        public void statsAge(EvictionSignal signal, Duration age) {}
    };

    /**
     * A pod was evicted.
     *
     * @param signal that of the threshold, or the kubelet's name of the pod's own limit of disk
     */
    void evicted(String signal);

    /** A pod is evicted while this signal is too low, {@code age} after its measurement. */
    void statsAge(EvictionSignal signal, Duration age);
}
