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
import java.util.Map;
import java.util.Objects;

/**
 * What the controller tells Prometheus: under kube-controller-manager's names where it has one, as {@code nodekeeper_*}
 * otherwise. Times are seconds. Thread-safe.
 */
public final class ControllerMetrics {
    /** A millisecond to a minute and a half, as lags go from a healthy network to a stalled store. Chosen. */
    private static final double[] LAGS = Instruments.powers(0.001, 2.5, 13);

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Instruments make = new Instruments(registry);
    private final Gauge zoneHealth =
            make.gauge("node_collector_zone_health", "Percentage of nodes of the zone that are ready.", "zone");
    private final Gauge zoneSize = make.gauge("node_collector_zone_size", "Nodes that count in the zone.", "zone");
    private final Gauge unhealthyNodes =
            make.gauge("node_collector_unhealthy_nodes_in_zone", "Nodes of the zone that are not ready.", "zone");
    private final Counter evictions = make.counter(
            "node_collector_evictions_total",
            "Nodes of the zone that got a NoExecute taint from its queue, which is rate limited.",
            "zone");
    private final Histogram updateNodeHealth = make.histogram(
            "node_collector_update_node_health_duration_seconds",
            "Time that one node took in a monitor pass.",
            Instruments.powers(0.001, 4, 8));
    private final Histogram updateAllNodesHealth = make.histogram(
            "node_collector_update_all_nodes_health_duration_seconds",
            "Time that a monitor pass over all nodes took.",
            Instruments.powers(0.01, 4, 8));
    private final Counter podDeletions =
            make.counter("taint_eviction_controller_pod_deletions_total", "Pods deleted because of NoExecute taints.");
    private final Histogram podDeletionDuration = make.histogram(
            "taint_eviction_controller_pod_deletion_duration_seconds",
            "Time from when a pod's eviction was due to when its deletion was accepted.",
            new double[] {0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240});
    private final Counter forceDeletions = make.counter(
            "pod_gc_collector_force_delete_pods_total",
            "Pods deleted without grace by the pod garbage collector.",
            "namespace",
            "reason");
    private final Counter forceDeletionErrors = make.counter(
            "pod_gc_collector_force_delete_pod_errors_total", "Such deletions that failed.", "namespace", "reason");
    private final Gauge leader =
            make.gauge("leader_election_master_status", "1 while this process is the leader, else 0.", "name");
    private final Counter slowPaths = make.counter(
            "leader_election_slowpath_total",
            "Renewals for which the leader had to read the lease before it could write it.",
            "name");

    private final Histogram lags = make.histogram(
            "nodekeeper_heartbeat_lag_seconds", "Time that one hop of a heartbeat's way took.", LAGS, "hop");
    private final Map<Hop, DistributionDataPoint> lagOf = new EnumMap<>(Hop.class);
    private final Histogram detectionDelay = make.histogram(
            "nodekeeper_detection_delay_seconds",
            "Time from a silent node's deadline to the API's answer that it is marked Unknown.",
            LAGS);
    private final Counter verdicts =
            make.counter("nodekeeper_verdicts_total", "Verdicts on late nodes, by what was found.", "verdict");
    private final Gauge blind =
            make.gauge("nodekeeper_observer_blind", "1 while the controller cannot see because of this hop.", "hop");
    private final Gauge degraded = make.gauge(
            "nodekeeper_observer_degraded",
            "1 while verdicts do not rest on the watch as usual: late, list, renewals, or none if no node is judged.",
            "how");
    private final Counter blindSeconds = make.counter(
            "nodekeeper_observer_blind_seconds_total",
            "Time for which the controller could not see because of this hop.",
            "hop");
    private final Gauge canaryAge =
            make.gauge("nodekeeper_canary_age_seconds", "Time since the controller last saw proof that it sees.");
    private final Gauge suspects =
            make.gauge("nodekeeper_suspect_nodes", "Nodes that are later than they use to be, and within their grace.");
    private final Counter suspicions = make.counter("nodekeeper_suspicions_total", "Times that a node became suspect.");
    private final Counter flaps = make.counter(
            "nodekeeper_node_flaps_total", "Times that a node's Ready condition went from True to anything else.");
    private final Gauge damped =
            make.gauge("nodekeeper_damped_nodes", "Nodes whose taints are kept because they flap.");
    private final Gauge clockSkew = make.gauge(
            "nodekeeper_node_clock_skew_seconds_max",
            "The largest distance of a node's clock from the controller's, as far as heartbeats tell.");
    private final Gauge queueDepth = make.gauge("workqueue_depth", "What waits in the queue.", "name");
    private final Counter queueAdds = make.counter("workqueue_adds_total", "What was ever queued.", "name");
    private final Counter events = make.counter(
            "nodekeeper_events_total",
            "Events by what became of them: written, merged, suppressed, dropped or failed.",
            "outcome");
    private final Counter historyLost =
            make.counter("nodekeeper_history_lost_decisions_total", "Decisions that could not be kept on disk.");
    private final Gauge historyBytes =
            make.gauge("nodekeeper_history_bytes", "Size of the decisions that are kept on disk.");

    /** Metrics in a registry of their own. */
    public ControllerMetrics() {
        for (Hop hop : Hop.values()) {
            lagOf.put(hop, lags.labelValues(hop.label()));
        }
    }

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
        slowPaths.initLabelValues(name);
    }

    /** The leader of the lock {@code name} had to read it before it could renew it. */
    public void slowPath(String name) {
        slowPaths.labelValues(name).inc();
    }

    /** One hop of a heartbeat's way took this long; less than nothing counts as nothing. */
    public void lag(Hop hop, double seconds) {
        Objects.requireNonNull(lagOf.get(hop)).observe(Math.max(0, seconds));
    }

    /** A node was marked Unknown, this long after its deadline. */
    public void detected(double seconds) {
        detectionDelay.observe(seconds);
    }

    /** A late node was judged; {@code verdict} is a word in CamelCase such as {@code Unknown} or {@code Excused}. */
    public void verdict(String verdict) {
        verdicts.labelValues(verdict).inc();
    }

    /** Whether the controller is blind because of {@code hop}: a word such as {@code store} or {@code watch}. */
    public void blind(String hop, boolean isBlind) {
        blind.labelValues(hop).set(isBlind ? 1 : 0);
        blindSeconds.initLabelValues(hop);
    }

    /** Whether verdicts rest on {@code how} instead of on the watch: {@code late}, {@code list} and so on. */
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

    /** So many nodes are suspect now. */
    public void suspects(int nodes) {
        suspects.set(nodes);
    }

    /** A node flapped. */
    public void flapped() {
        flaps.inc();
    }

    /** So many nodes are damped now. */
    public void damped(int nodes) {
        damped.set(nodes);
    }

    /** No node's clock is further off than this, in either direction. */
    public void clockSkew(double seconds) {
        clockSkew.set(seconds);
    }

    /** The numbers of the queue {@code name}, such as {@code noexec_taint_pod}. */
    public WorkQueueMetrics queue(String name) {
        return new WorkQueueMetrics(queueDepth.labelValues(name), queueAdds.labelValues(name));
    }

    /** An event ended like this: a word such as {@code written}. */
    public void event(String outcome) {
        events.labelValues(outcome).inc();
    }

    /** So many decisions were lost to history. */
    public void historyLost(int decisions) {
        historyLost.inc(decisions);
    }

    /** The history takes this much disk. */
    public void historyBytes(long bytes) {
        historyBytes.set(bytes);
    }

    /** Everything in Prometheus' text format, UTF-8. */
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
