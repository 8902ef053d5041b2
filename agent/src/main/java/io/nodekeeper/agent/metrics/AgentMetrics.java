package io.nodekeeper.agent.metrics;

import io.nodekeeper.agent.calls.OperationListener;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.pleg.PlegMetrics;
import io.nodekeeper.agent.pods.eviction.EvictionMetrics;
import io.nodekeeper.agent.pods.model.PodMetrics;
import io.nodekeeper.agent.pods.probes.ProbeMetrics;
import io.nodekeeper.agent.shutdown.ShutdownMetrics;
import io.nodekeeper.agent.stats.StatisticsListener;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.time.Clock;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The agent's Prometheus metrics: under the kubelet's names where it has one, as {@code nodekeeper_agent_*}
 * otherwise. Times are in seconds. Thread-safe.
 */
public final class AgentMetrics implements PlegMetrics, OperationListener, StatisticsListener, ShutdownMetrics {
    /**
     * Prometheus' default buckets, extended to ten minutes: the kubelet's end at 10 s and do not show a stuck relist.
     */
    private static final double[] RELISTS = {
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 180, 240, 300, 600
    };
    /** The kubelet's buckets: 5 ms to 12 min. */
    private static final double[] OPERATIONS = {
        0.005,
        0.0125,
        0.03125,
        0.078125,
        0.1953125,
        0.48828125,
        1.220703125,
        3.0517578125,
        7.62939453125,
        19.073486328125,
        47.6837158203125,
        119.20928955078125,
        298.0232238769531,
        745.0580596923828
    };

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final MetricFactory make = new MetricFactory(registry);

    private final Histogram relists = make.histogram(
            "kubelet_pleg_relist_duration_seconds", "Duration of a relist, including failed ones.", RELISTS);
    private final Histogram relistIntervals = make.histogram(
            "kubelet_pleg_relist_interval_seconds",
            "Time from the start of a relist to the start of the next.",
            RELISTS);
    private final Histogram podRelists = make.histogram(
            "kubelet_pleg_pod_relist_duration_seconds", "Duration of a relist of one pod on demand.", RELISTS);
    // The kubelet's counter of this name lacks the suffix that the client library requires of counters.
    private final Gauge discarded = make.gauge(
            "kubelet_pleg_discard_events",
            "Pod events that were dropped because the queue of their listener was full.");
    private final Gauge runningPods = make.gauge("kubelet_running_pods", "Pods with a sandbox that is ready.");
    private final Gauge runningContainers =
            make.gauge("kubelet_running_containers", "Containers by their state.", "container_state");
    private final Counter operations = make.counter(
            "kubelet_runtime_operations_total", "Completed calls to the container runtime.", "operation_type");
    private final Counter operationErrors = make.counter(
            "kubelet_runtime_operations_errors_total",
            "Calls to the container runtime that failed or timed out.",
            "operation_type");
    private final Histogram operationDurations = make.histogram(
            "kubelet_runtime_operations_duration_seconds",
            "Duration of a call to the container runtime.",
            OPERATIONS,
            "operation_type");
    private final Gauge nodeName = make.gauge("kubelet_node_name", "1, with the node's name.", "node");
    private final Gauge stuckPods = make.gauge(
            "nodekeeper_agent_stuck_pods", "Pods whose state the runtime does not return within the deadline.");
    private final Gauge probeDurations = make.gauge(
            "nodekeeper_agent_network_probe_duration_seconds",
            "Duration of this step in the last probe of the pod network.",
            "step");

    /** The series of one method: looking them up by their labels costs more than a call. */
    private record Operation(CounterDataPoint ended, CounterDataPoint failed, DistributionDataPoint durations) {}

    /** As many as CRI has methods. */
    private final ConcurrentHashMap<String, Operation> byMethod = new ConcurrentHashMap<>();
    /** As many as there are states. */
    private final ConcurrentHashMap<ContainerState, GaugeDataPoint> byState = new ConcurrentHashMap<>();

    private final Counter imagesRemoved = make.counter(
            "kubelet_image_garbage_collected_total",
            "Images that were removed because nothing used them, for space or for their age.",
            "reason");
    private final Counter devicePlugins = make.counter(
            "kubelet_device_plugin_registration_total", "Registrations of device plugins.", "resource_name");
    private final ProbeCounter probes = new ProbeCounter(make);
    private final PodCounter pods = new PodCounter(make);
    private final EvictionCounter evictions = new EvictionCounter(make);

    private volatile OptionalDouble lastSeen = OptionalDouble.empty();
    private volatile OptionalDouble probeSuccess = OptionalDouble.empty();
    private volatile OptionalDouble cgroupVersion = OptionalDouble.empty();
    private volatile OptionalDouble shutdownStart = OptionalDouble.empty();
    private volatile OptionalDouble shutdownEnd = OptionalDouble.empty();
    private volatile Supplier<OptionalDouble> clientCertificate = OptionalDouble::empty;
    private volatile StartupTimes startup = StartupTimes.NONE;
    private volatile Map<CulpritKey, Integer> culprits = Map.of();
    private volatile Map<String, Integer> loads = Map.of();
    private volatile Map<String, Map<String, Double>> stalls = Map.of();
    private volatile Map<String, Double> lateSignals = Map.of();

    /** Metrics of one agent; {@code loops} are the agent's own loops. */
    public AgentMetrics(LoopMonitor loops) {
        make.lateGauge(
                "kubelet_pleg_last_seen_seconds",
                "When the runtime last listed its pods, in seconds since 1970.",
                () -> lastSeen);
        make.lateGauge("kubelet_cgroup_version", "1 or 2.", () -> cgroupVersion);
        make.lateGauge(
                "kubelet_graceful_shutdown_start_time_seconds",
                "When the last shutdown of the machine began, in seconds since 1970.",
                () -> shutdownStart);
        make.lateGauge(
                "kubelet_graceful_shutdown_end_time_seconds",
                "When the pods had ended for the last shutdown of the machine, in seconds since 1970; 0 until then.",
                () -> shutdownEnd);
        make.lateGauge(
                "kubelet_certificate_manager_client_ttl_seconds",
                "Time until the agent's client certificate expires, if the agent renews it; negative once it has expired.",
                () -> clientCertificate.get());
        startup(
                "pre_kubelet_duration",
                "From the boot of the kernel to the start of the process.",
                StartupTimes::preKubelet);
        startup(
                "pre_registration_duration",
                "From the start of the process to the first attempt to register.",
                StartupTimes::preRegistration);
        startup(
                "registration_duration",
                "From the first attempt to register to the new Node.",
                StartupTimes::registration);
        startup("post_registration_duration", "From the new Node to Ready.", StartupTimes::postRegistration);
        startup("duration", "From the boot of the kernel to Ready, for a new Node.", StartupTimes::total);
        make.gauge(
                "nodekeeper_agent_runtime_culprits",
                "Things that hang below the container runtime, by layer and reason.",
                callback -> culprits.forEach((key, count) -> callback.call(count, key.layer(), key.reason())),
                "layer",
                "reason");
        make.gauge(
                "nodekeeper_agent_runtime_loads",
                "Loads that may explain why the container runtime answers late, by reason.",
                callback -> loads.forEach((reason, count) -> callback.call(count, reason)),
                "reason");
        make.lateGauge(
                "nodekeeper_agent_network_probe_success",
                "1 if the last probe of the pod network succeeded, else 0.",
                () -> probeSuccess);
        make.gauge(
                "nodekeeper_agent_loop_last_beat_seconds",
                "Time since the last iteration of this loop of the agent, or since its registration if it has not run yet.",
                callback -> loops.silences().forEach((loop, silence) -> callback.call(seconds(silence), loop)),
                "loop");
        make.counter(
                "nodekeeper_agent_pressure_stalled_seconds_total",
                "Time since the boot in which some or all tasks of the machine waited for this resource.",
                callback -> stalls.forEach(
                        (resource, kinds) -> kinds.forEach((kind, seconds) -> callback.call(seconds, resource, kind))),
                "resource",
                "kind");
        make.gauge(
                "nodekeeper_agent_statistics_late_seconds",
                "Time since this signal was last measured, while its newest reading failed or has no answer.",
                callback -> lateSignals.forEach((signal, seconds) -> callback.call(seconds, signal)),
                "signal");
    }

    /** Counts the probes of pods. */
    public ProbeMetrics probes() {
        return probes;
    }

    /** Counts pods. */
    public PodMetrics pods() {
        return pods;
    }

    /** Counts evictions. */
    public EvictionMetrics evictions() {
        return evictions;
    }

    /** The agent's client certificate, which it renews, is valid until {@code end} by {@code clock}. */
    public void clientCertificate(Instant end, Clock clock) {
        clientCertificate =
                () -> OptionalDouble.of(Duration.between(clock.wallTime(), end).toSeconds());
    }

    @Override
    public void shutdownBegan(Instant time) {
        shutdownEnd = OptionalDouble.of(0);
        shutdownStart = OptionalDouble.of(seconds(time));
    }

    @Override
    public void shutdownEnded(Instant time) {
        shutdownEnd = OptionalDouble.of(seconds(time));
    }

    /** An image was removed for {@code space} or {@code age}. */
    public void imageRemoved(String reason) {
        imagesRemoved.labelValues(reason).inc();
    }

    /** A device plugin registered {@code resource}. */
    public void devicePluginRegistered(String resource) {
        devicePlugins.labelValues(resource).inc();
    }

    /** The registry of all metrics; the process registers its own metrics here, too. */
    public PrometheusRegistry registry() {
        return registry;
    }

    @Override
    public void relistInterval(Duration interval) {
        relistIntervals.observe(seconds(interval));
    }

    @Override
    public void relistEnded(Duration duration) {
        relists.observe(seconds(duration));
    }

    @Override
    public void lastSeen(Instant time) {
        lastSeen = OptionalDouble.of(seconds(time));
    }

    @Override
    public void podRelistEnded(Duration duration) {
        podRelists.observe(seconds(duration));
    }

    @Override
    public void discarded() {
        discarded.inc();
    }

    @Override
    public void running(int pods, Map<ContainerState, Integer> containers) {
        runningPods.set(pods);
        containers.forEach((state, count) -> byState.computeIfAbsent(
                        state,
                        known -> runningContainers.labelValues(known.name().toLowerCase(Locale.ROOT)))
                .set(count));
    }

    @Override
    public void ended(String method, Duration duration, boolean failed) {
        Operation operation = byMethod.computeIfAbsent(method, this::operation);
        operation.ended.inc();
        operation.failed.inc(failed ? 1 : 0);
        operation.durations.observe(seconds(duration));
    }

    private Operation operation(String method) {
        String type = OperationType.of(method);
        return new Operation(
                operations.labelValues(type), operationErrors.labelValues(type), operationDurations.labelValues(type));
    }

    /** Sets the durations of the start. */
    public void startup(StartupTimes times) {
        startup = times;
    }

    /** Sets the node's name. */
    public void nodeName(String name) {
        nodeName.labelValues(name).set(1);
    }

    /** The version of cgroups that the machine has. */
    public void cgroupVersion(int version) {
        cgroupVersion = OptionalDouble.of(version);
    }

    /** Replaces the counts of culprits. */
    public void culprits(Map<CulpritKey, Integer> counts) {
        culprits = Map.copyOf(counts);
    }

    /** Replaces the counts of loads, by reason. */
    public void loads(Map<String, Integer> counts) {
        loads = Map.copyOf(counts);
    }

    @Override
    public void stalled(Map<String, Map<String, Double>> seconds) {
        stalls = Map.copyOf(seconds);
    }

    @Override
    public void late(Map<String, Double> seconds) {
        lateSignals = Map.copyOf(seconds);
    }

    @Override
    public void stuck(int pods) {
        stuckPods.set(pods);
    }

    /** Records that one step of a probe of the pod network ended, successfully or not. */
    public void networkProbeStep(String step, Duration duration) {
        probeDurations.labelValues(step).set(seconds(duration));
    }

    /** A probe of the pod network ended. */
    public void networkProbeEnded(boolean success) {
        probeSuccess = OptionalDouble.of(success ? 1 : 0);
    }

    /** All metrics in Prometheus' text format, UTF-8. */
    public byte[] scrape() {
        return scrape(name -> true);
    }

    /** The counts of probes in the same format; without samples while no probe has run. */
    public byte[] scrapeProbes() {
        return scrape(name -> name.startsWith("prober_"));
    }

    private byte[] scrape(Predicate<String> names) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(16_384);
        try {
            PrometheusTextFormatWriter.create().write(out, registry.scrape(names));
        } catch (IOException e) {
            throw new UncheckedIOException("writing metrics to memory", e);
        }
        return out.toByteArray();
    }

    private void startup(String part, String help, Function<StartupTimes, Optional<Duration>> time) {
        make.lateGauge(
                "kubelet_node_startup_" + part + "_seconds",
                help,
                () -> time.apply(startup)
                        .map(duration -> OptionalDouble.of(seconds(duration)))
                        .orElse(OptionalDouble.empty()));
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    private static double seconds(Instant time) {
        return time.getEpochSecond() + time.getNano() / 1e9;
    }
}
