package io.nodekeeper.controller;

import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.WorkQueueMetrics;

/** Tells how much waits on the lanes, under the names of the queues that kube-controller-manager has for the same work. */
final class LaneMetrics implements PriorityWorkQueue.Watcher {
    private final WorkQueueMetrics nodes;
    private final WorkQueueMetrics pods;

    LaneMetrics(ControllerMetrics metrics) {
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
