package io.nodekeeper.controller.metrics;

import io.nodekeeper.client.workqueue.KeyedJobs;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;

/** The metrics of one queue, with the names of Kubernetes' work queues. Thread-safe. */
public final class WorkQueueMetrics implements KeyedJobs.Watcher {
    private final GaugeDataPoint depth;
    private final CounterDataPoint adds;

    WorkQueueMetrics(GaugeDataPoint depth, CounterDataPoint adds) {
        this.depth = depth;
        this.adds = adds;
    }

    @Override
    public void added(int waiting) {
        adds.inc();
        depth.set(waiting);
    }

    @Override
    public void taken(int waiting) {
        depth.set(waiting);
    }
}
