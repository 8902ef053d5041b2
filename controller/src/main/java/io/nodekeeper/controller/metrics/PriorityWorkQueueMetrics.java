package io.nodekeeper.controller.metrics;

import io.nodekeeper.client.workqueue.PriorityWorkQueue;

/** Reports the queue lengths of a {@link PriorityWorkQueue} under the names of kube-controller-manager's queues. */
public final class PriorityWorkQueueMetrics implements PriorityWorkQueue.Watcher {
    private final WorkQueueMetrics nodes;
    private final WorkQueueMetrics pods;

    public PriorityWorkQueueMetrics(ControllerMetrics metrics) {
        this.nodes = metrics.queue("node_lifecycle_controller");
        this.pods = metrics.queue("node_lifecycle_controller_pods");
    }

    @Override
    public void queued(boolean background, int waiting) {
        (background ? pods : nodes).added(waiting);
    }

    @Override
    public void begun(boolean background, int waiting) {
        (background ? pods : nodes).taken(waiting);
    }
}
