package io.nodekeeper.controller.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;

/** The metrics of one queue, with the names of Kubernetes' work queues. Thread-safe. */
public final class WorkQueueMetrics {
    private final GaugeDataPoint depth;
    private final CounterDataPoint adds;

    WorkQueueMetrics(GaugeDataPoint depth, CounterDataPoint adds) {
        this.depth = depth;
        this.adds = adds;
    }

    /** An item was added, and {@code waiting} items wait now. */
    public void added(int waiting) {
        adds.inc();
        depth.set(waiting);
    }

    /** An item was removed, and {@code waiting} items still wait. */
    public void taken(int waiting) {
        depth.set(waiting);
    }
}
