package io.nodekeeper.agent.metrics;

import io.nodekeeper.agent.eviction.EvictionSignal;
import io.nodekeeper.agent.pods.eviction.EvictionMetrics;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import java.time.Duration;

/** Counts evictions by their signal, under the kubelet's names. Thread-safe. */
final class EvictionCounter implements EvictionMetrics {
    /** Prometheus' default buckets, extended to a minute: freeing disk may take 40 s, and then the use of pods is read. */
    private static final double[] AGES = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60};

    // The kubelet's counter of this name lacks the suffix that the client library requires of counters.
    private final Gauge evictions;
    private final Histogram ages;

    EvictionCounter(MetricFactory make) {
        evictions = make.gauge("kubelet_evictions", "Pods that were evicted, by signal.", "eviction_signal");
        ages = make.histogram(
                "kubelet_eviction_stats_age_seconds",
                "Time from the measurement of a signal to the eviction of a pod because of it.",
                AGES,
                "eviction_signal");
    }

    @Override
    public void evicted(String signal) {
        evictions.labelValues(signal).inc();
    }

    @Override
    public void statsAge(EvictionSignal signal, Duration age) {
        ages.labelValues(signal.text()).observe(age.toNanos() / 1e9);
    }
}
