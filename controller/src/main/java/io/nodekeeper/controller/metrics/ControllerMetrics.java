package io.nodekeeper.controller.metrics;

import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The controller's metrics for Prometheus, with kube-controller-manager's names where it has one, and {@code
 * nodekeeper_*} otherwise. Times are seconds. Thread-safe.
 */
public final class ControllerMetrics {
    /**
     * Buckets from 1 ms, a healthy network, to a minute and a half, a stalled store. A factor of 2.5 covers that with
     * 13 buckets and still separates causes of different sizes.
     */
    private static final double[] LAGS = Instruments.powers(0.001, 2.5, 13);

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Instruments make = new Instruments(registry);
    private final Gauge zoneHealth =
            make.gauge("node_collector_zone_health", "Percentage of nodes of the zone that are ready.", "zone");
    private final Gauge zoneSize =
            make.gauge("node_collector_zone_size", "Number of nodes that count for the state of the zone.", "zone");
    private final Gauge unhealthyNodes =
            make.gauge("node_collector_unhealthy_nodes_in_zone", "Nodes of the zone that are not ready.", "zone");
    private final Counter evictions = make.counter(
            "node_collector_evictions_total",
            "Number of nodes of the zone that got a NoExecute taint from its rate-limited queue.",
            "zone");
    private final Histogram updateNodeHealth = make.histogram(
            "node_collector_update_node_health_duration_seconds",
            "Duration of the evaluation of one node in a monitor pass.",
            Instruments.powers(0.001, 4, 8));
    private final Histogram updateAllNodesHealth = make.histogram(
            "node_collector_update_all_nodes_health_duration_seconds",
            "Duration of a monitor pass over all nodes.",
            Instruments.powers(0.01, 4, 8));
    private final Counter podDeletions = make.counter(
            "taint_eviction_controller_pod_deletions_total", "Number of pods deleted because of NoExecute taints.");
    private final Histogram podDeletionDuration = make.histogram(
            "taint_eviction_controller_pod_deletion_duration_seconds",
            "Time from when a pod's eviction was due until the API server accepted its deletion.",
            new double[] {0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240});
    private final Counter forceDeletions = make.counter(
            "pod_gc_collector_force_delete_pods_total",
            "Number of pods that the pod garbage collector deleted without a grace period.",
            "namespace",
            "reason");
    private final Counter forceDeletionErrors = make.counter(
            "pod_gc_collector_force_delete_pod_errors_total",
            "Number of failed deletions by the pod garbage collector.",
            "namespace",
            "reason");
    private final Gauge leader =
            make.gauge("leader_election_master_status", "1 while this process is the leader, else 0.", "name");
    private final Counter slowPaths = make.counter(
            "leader_election_slowpath_total",
            "Number of renewals for which the leader had to read the lease before the write.",
            "name");

    private final Histogram lags = make.histogram(
            "nodekeeper_heartbeat_lag_seconds",
            "Duration of one hop from a heartbeat to the write about its node.",
            LAGS,
            "hop");
    private final Map<Hop, DistributionDataPoint> lagOf = new EnumMap<>(Hop.class);
    private final Histogram detectionDelay = make.histogram(
            "nodekeeper_detection_delay_seconds",
            "Time from a node's missed deadline to the API server's answer that the node is marked Unknown.",
            LAGS);
    private final Counter verdicts =
            make.counter("nodekeeper_verdicts_total", "Number of verdicts on late nodes, by verdict.", "verdict");
    private final Gauge blind = make.gauge(
            "nodekeeper_observer_blind", "1 while the controller is blind because of this hop, else 0.", "hop");
    private final Gauge degraded = make.gauge(
            "nodekeeper_observer_degraded",
            "1 while verdicts use this proof instead of a timely watch: late, list, renewals, writes, or none if"
                    + " there are no verdicts; else 0.",
            "how");
    private final Counter blindSeconds = make.counter(
            "nodekeeper_observer_blind_seconds_total",
            "Total time for which the controller was blind because of this hop.",
            "hop");
    private final Gauge canaryAge =
            make.gauge("nodekeeper_canary_age_seconds", "Age of the controller's last proof of sight.");
    private final Gauge suspects = make.gauge(
            "nodekeeper_suspect_nodes", "Number of nodes that are later than usual but within their grace period.");
    private final Counter suspicions =
            make.counter("nodekeeper_suspicions_total", "Number of times that a node became suspect.");
    private final Counter flaps = make.counter(
            "nodekeeper_node_flaps_total",
            "Number of times that a node's Ready condition changed from True to another status.");
    private final Gauge damped =
            make.gauge("nodekeeper_damped_nodes", "Number of nodes that keep their taints because they flap.");
    private final Gauge duplicates =
            make.gauge("nodekeeper_duplicate_nodes", "Number of nodes whose status two machines write in turn.");
    private final Gauge clockSkew = make.gauge(
            "nodekeeper_node_clock_skew_seconds_max",
            "Largest skew between a node's clock and the controller's, as measured from heartbeats.");
    private final Gauge queueDepth = make.gauge("workqueue_depth", "Current number of items in the queue.", "name");
    private final Counter queueAdds =
            make.counter("workqueue_adds_total", "Total number of items added to the queue.", "name");
    private final Counter events = make.counter(
            "nodekeeper_events_total",
            "Number of events by outcome: written, merged, suppressed, dropped or failed.",
            "outcome");
    private final Counter historyLost = make.counter(
            "nodekeeper_history_lost_decisions_total", "Number of decisions that could not be stored on disk.");
    private final Gauge historyBytes = make.gauge("nodekeeper_history_bytes", "Size of the decisions on disk.");

    /** Metrics in a new registry. */
    public ControllerMetrics() {
        for (Hop hop : Hop.values()) {
            lagOf.put(hop, lags.labelValues(hop.label()));
        }
        // From the start, so that the first increase is seen.
        List.of("Unknown", "Spared", "AlreadyUnknown").forEach(verdicts::initLabelValues);
    }

    /** The registry of all metrics; other parts register their own metrics here, too. */
    public PrometheusRegistry registry() {
        return registry;
    }

    /** A zone has {@code size} counted nodes, {@code unhealthy} of which are not ready. */
    public void zone(String zone, int size, int unhealthy) {
        zoneSize.labelValues(zone).set(size);
        unhealthyNodes.labelValues(zone).set(unhealthy);
        zoneHealth.labelValues(zone).set(size == 0 ? 100 : 100.0 * (size - unhealthy) / size);
        evictions.initLabelValues(zone);
    }

    /**
     * The zone has no nodes any more. Its series end, so that zones which come and go do not add up. If it comes back, its
     * counter starts from 0, which Prometheus treats as a restart.
     */
    public void zoneGone(String zone) {
        zoneSize.remove(zone);
        unhealthyNodes.remove(zone);
        zoneHealth.remove(zone);
        evictions.remove(zone);
    }

    /** A node of the zone got a NoExecute taint from the queue. */
    public void tainted(String zone) {
        evictions.labelValues(zone).inc();
    }

    /** The evaluation of one node in a monitor pass took this long. */
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

    /** The pod garbage collector deleted a pod; once for each pod. */
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
        slowPaths.initLabelValues(name);
    }

    /** The leader of the lock {@code name} had to read it before it could renew it. */
    public void slowPath(String name) {
        slowPaths.labelValues(name).inc();
    }

    /** One hop of a heartbeat took this long; a negative value counts as 0. */
    public void lag(Hop hop, double seconds) {
        Objects.requireNonNull(lagOf.get(hop)).observe(Math.max(0, seconds));
    }

    /** A node was marked Unknown, this long after its deadline. */
    public void detected(double seconds) {
        detectionDelay.observe(seconds);
    }

    /**
     * A late node got a verdict; {@code verdict} is a word in CamelCase: {@code Unknown}, {@code Spared} or {@code
     * AlreadyUnknown}.
     */
    public void verdict(String verdict) {
        verdicts.labelValues(verdict).inc();
    }

    /** Whether the controller is blind because of {@code hop}: a word such as {@code store} or {@code watch}. */
    public void blind(String hop, boolean isBlind) {
        blind.labelValues(hop).set(isBlind ? 1 : 0);
        blindSeconds.initLabelValues(hop);
    }

    /** Whether verdicts use the proof {@code how} instead of a timely watch: {@code late}, {@code list} and so on. */
    public void degraded(String how, boolean isDegraded) {
        degraded.labelValues(how).set(isDegraded ? 1 : 0);
    }

    /** The controller was blind for this much longer because of {@code hop}. */
    public void blindFor(String hop, double seconds) {
        blindSeconds.labelValues(hop).inc(seconds);
    }

    /** The last proof of sight is this old. */
    public void canaryAge(double seconds) {
        canaryAge.set(seconds);
    }

    /** A node became suspect. */
    public void suspected() {
        suspicions.inc();
    }

    /** The number of suspect nodes. */
    public void suspects(int nodes) {
        suspects.set(nodes);
    }

    /** A node flapped. */
    public void flapped() {
        flaps.inc();
    }

    /** The number of damped nodes. */
    public void damped(int nodes) {
        damped.set(nodes);
    }

    /** The number of nodes whose status two machines write in turn. */
    public void duplicates(int nodes) {
        duplicates.set(nodes);
    }

    /** The largest clock skew of a node, in either direction. */
    public void clockSkew(double seconds) {
        clockSkew.set(seconds);
    }

    /** The metrics of the queue {@code name}, such as {@code noexec_taint_pod}. */
    public WorkQueueMetrics queue(String name) {
        return new WorkQueueMetrics(queueDepth.labelValues(name), queueAdds.labelValues(name));
    }

    /** An event had this outcome: a word such as {@code written}. */
    public void event(String outcome) {
        events.labelValues(outcome).inc();
    }

    /** This many decisions were not stored. */
    public void historyLost(int decisions) {
        historyLost.inc(decisions);
    }

    /** The size of the history on disk. */
    public void historyBytes(long bytes) {
        historyBytes.set(bytes);
    }

    /** All metrics in Prometheus' text format, UTF-8. */
    public byte[] scrape() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(16_384);
        try {
            PrometheusTextFormatWriter.create().write(out, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException("writing metrics to memory", e);
        }
        return out.toByteArray();
    }
}
