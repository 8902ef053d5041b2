package io.nodekeeper.controller.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;

/** How full one queue is, under the names that Kubernetes' work queues have. Thread-safe. */
public final class WorkQueueMetrics {
    private final GaugeDataPoint depth;
    private final CounterDataPoint adds;

    WorkQueueMetrics(GaugeDataPoint depth, CounterDataPoint adds) {
        this.depth = depth;
        this.adds = adds;
    }

    /** Something was queued, and {@code waiting} things wait now. */
    public void added(int waiting) {
        adds.inc();
        depth.set(waiting);
    }

    /** Something was taken out, and {@code waiting} things still wait. */
    public void taken(int waiting) {
        depth.set(waiting);
    }
}
