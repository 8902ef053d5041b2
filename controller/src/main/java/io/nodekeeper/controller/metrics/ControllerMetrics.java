package io.nodekeeper.controller.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/**
 * What the controller tells Prometheus: under kube-controller-manager's names where it has one, as {@code nodekeeper_*}
 * otherwise. Times are seconds. Thread-safe.
 */
public final class ControllerMetrics {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Gauge zoneHealth =
            gauge("node_collector_zone_health", "Percentage of nodes of the zone that are ready.", "zone");
    private final Gauge zoneSize = gauge("node_collector_zone_size", "Nodes that count in the zone.", "zone");
    private final Gauge unhealthyNodes =
            gauge("node_collector_unhealthy_nodes_in_zone", "Nodes of the zone that are not ready.", "zone");
    private final Counter evictions = counter(
            "node_collector_evictions_total",
            "Nodes of the zone that got a NoExecute taint from its queue, which is rate limited.",
            "zone");
    private final Histogram updateNodeHealth = histogram(
            "node_collector_update_node_health_duration_seconds",
            "Time that one node took in a monitor pass.",
            powersOfFour(0.001));
    private final Histogram updateAllNodesHealth = histogram(
            "node_collector_update_all_nodes_health_duration_seconds",
            "Time that a monitor pass over all nodes took.",
            powersOfFour(0.01));
    private final Counter podDeletions =
            counter("taint_eviction_controller_pod_deletions_total", "Pods deleted because of NoExecute taints.");
    private final Histogram podDeletionDuration = histogram(
            "taint_eviction_controller_pod_deletion_duration_seconds",
            "Time from when a pod's eviction was due to when its deletion was accepted.",
            0.005,
            0.025,
            0.1,
            0.5,
            1,
            2.5,
            10,
            30,
            60,
            120,
            180,
            240);
    private final Counter forceDeletions = counter(
            "pod_gc_collector_force_delete_pods_total",
            "Pods deleted without grace by the pod garbage collector.",
            "namespace",
            "reason");
    private final Counter forceDeletionErrors = counter(
            "pod_gc_collector_force_delete_pod_errors_total", "Such deletions that failed.", "namespace", "reason");
    private final Gauge leader =
            gauge("leader_election_master_status", "1 while this process is the leader, else 0.", "name");

    /** Where all of them are registered; parts with numbers of their own register them here. */
    public PrometheusRegistry registry() {
        return registry;
    }

    /** A zone has {@code size} nodes that count, {@code unhealthy} of which are not ready. */
    public void zone(String zone, int size, int unhealthy) {
        zoneSize.labelValues(zone).set(size);
        unhealthyNodes.labelValues(zone).set(unhealthy);
        zoneHealth.labelValues(zone).set(size == 0 ? 100 : 100.0 * (size - unhealthy) / size);
        evictions.initLabelValues(zone);
    }

    /** A node of the zone got a NoExecute taint from the queue. */
    public void tainted(String zone) {
        evictions.labelValues(zone).inc();
    }

    /** One node took this long in a monitor pass. */
    public void judgedNode(double seconds) {
        updateNodeHealth.observe(seconds);
    }

    /** A monitor pass took this long. */
    public void judgedAllNodes(double seconds) {
        updateAllNodesHealth.observe(seconds);
    }

    /** A pod was deleted because of a taint, this long after its eviction was due. */
    public void evicted(double seconds) {
        podDeletions.inc();
        podDeletionDuration.observe(seconds);
    }

    /** The pod garbage collector deleted a pod. */
    public void forceDeleted(String namespace, String reason) {
        forceDeletions.labelValues(namespace, reason).inc();
    }

    /** The pod garbage collector failed to delete a pod. */
    public void forceDeleteFailed(String namespace, String reason) {
        forceDeletionErrors.labelValues(namespace, reason).inc();
    }

    /** Whether this process is the leader of the lock {@code name}. */
    public void leader(String name, boolean leads) {
        leader.labelValues(name).set(leads ? 1 : 0);
    }

    private Gauge gauge(String name, String help, String... labels) {
        return Gauge.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    private Counter counter(String name, String help, String... labels) {
        return Counter.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    private Histogram histogram(String name, String help, double... buckets) {
        return Histogram.builder()
                .name(name)
                .help(help)
                .classicOnly()
                .classicUpperBounds(buckets)
                .register(registry);
    }

    private static double[] powersOfFour(double first) {
        double[] buckets = new double[8];
        for (int i = 0; i < buckets.length; i++) {
            buckets[i] = first * Math.pow(4, i);
        }
        return buckets;
    }
}
