package io.nodekeeper.controller;

import io.nodekeeper.controller.pods.WorkloadConfig;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * How patient the controller is. Any values can be held; {@link #faults} tells which of them cannot be worked with.
 *
 * @param nodeMonitorPeriod how often the reference looks at all nodes; of no effect with {@code WatchDrivenDeadlines}
 * @param nodeMonitorGracePeriod the silence after which a node that has reported counts as unreachable
 * @param nodeStartupGracePeriod the same for a node that has never reported
 * @param zones how fast nodes are tainted
 * @param detector how a node's grace comes about
 * @param flaps when a node counts as flapping
 * @param gates which improvements over the reference are on
 * @param readOnly whether nothing may be written, not even to prove that it sees
 * @param terminatedPodGcThreshold so many finished pods may stay; 0 or less for any number
 */
public record ControllerConfig(
        Duration nodeMonitorPeriod,
        Duration nodeMonitorGracePeriod,
        Duration nodeStartupGracePeriod,
        ZoneConfig zones,
        DetectorConfig detector,
        FlapDampingConfig flaps,
        FeatureGates gates,
        boolean readOnly,
        int terminatedPodGcThreshold) {

    /** Kubernetes' defaults since 1.32. */
    public static final ControllerConfig DEFAULT =
            new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(50), Duration.ofSeconds(60));

    /** These periods, all else by default. */
    public ControllerConfig(
            Duration nodeMonitorPeriod, Duration nodeMonitorGracePeriod, Duration nodeStartupGracePeriod) {
        this(
                nodeMonitorPeriod,
                nodeMonitorGracePeriod,
                nodeStartupGracePeriod,
                ZoneConfig.DEFAULT,
                DetectorConfig.DEFAULT,
                FlapDampingConfig.DEFAULT,
                FeatureGates.ALL,
                false,
                WorkloadConfig.TERMINATED_POD_GC_THRESHOLD);
    }

    /** The same for a controller that only looks. */
    public ControllerConfig observing() {
        return with(zones, detector, flaps, gates, true, terminatedPodGcThreshold);
    }

    /** What of this concerns pods. */
    WorkloadConfig workload() {
        return new WorkloadConfig(
                gates.has(FeatureGate.OBSERVER_GUARD),
                gates.has(FeatureGate.LEVEL_POD_MARKING),
                gates.has(FeatureGate.TIME_ADDED_EVICTION),
                gates.has(FeatureGate.DURABLE_EVICTION),
                gates.has(FeatureGate.ORPHAN_LEASES),
                terminatedPodGcThreshold,
                nodeMonitorPeriod);
    }

    /** The same with other rates. */
    public ControllerConfig with(ZoneConfig others) {
        return with(others, detector, flaps, gates, readOnly, terminatedPodGcThreshold);
    }

    /** The same with another detector. */
    public ControllerConfig with(DetectorConfig other) {
        return with(zones, other, flaps, gates, readOnly, terminatedPodGcThreshold);
    }

    /** The same with other limits for flapping. */
    public ControllerConfig with(FlapDampingConfig others) {
        return with(zones, detector, others, gates, readOnly, terminatedPodGcThreshold);
    }

    /** The same with other gates. */
    public ControllerConfig with(FeatureGates others) {
        return with(zones, detector, flaps, others, readOnly, terminatedPodGcThreshold);
    }

    /** The same with another number of finished pods that may stay; 0 or less for any number. */
    public ControllerConfig withTerminatedPodGcThreshold(int threshold) {
        return with(zones, detector, flaps, gates, readOnly, threshold);
    }

    private ControllerConfig with(
            ZoneConfig rates,
            DetectorConfig grace,
            FlapDampingConfig damping,
            FeatureGates open,
            boolean looksOnly,
            int finishedPods) {
        return new ControllerConfig(
                nodeMonitorPeriod,
                nodeMonitorGracePeriod,
                nodeStartupGracePeriod,
                rates,
                grace,
                damping,
                open,
                looksOnly,
                finishedPods);
    }

    /** The deadline of each single call; a slow answer means that nothing can be judged yet. Chosen. */
    static final Duration CALL_TIMEOUT = Duration.ofSeconds(2);
    /** How often the controller proves that it sees, and how long it may not. Chosen. */
    private static final Duration CANARY_PERIOD = Duration.ofSeconds(1);
    /** See {@link #CANARY_PERIOD}. */
    private static final int CANARIES_MISSED = 3;
    /** See {@link #CANARY_PERIOD}. */
    private static final Duration PAUSE = Duration.ofMillis(1_500);

    /** The time in which an HTTP/2 client finds out that its connection is dead: 30 s idle and 15 s without an answer. */
    private static final Duration CONNECTION_LOSS = Duration.ofSeconds(45);

    /** All that is wrong with the values, each naming its flag, its value and what is expected; empty if nothing is. */
    public List<String> faults() {
        List<String> faults = new ArrayList<>();
        positive(faults, "--node-monitor-period", nodeMonitorPeriod);
        positive(faults, "--node-monitor-grace-period", nodeMonitorGracePeriod);
        positive(faults, "--node-startup-grace-period", nodeStartupGracePeriod);
        faults.addAll(zones.faults());
        faults.addAll(detector.faults());
        faults.addAll(flaps.faults());
        return List.copyOf(faults);
    }

    /** How often to send a canary: each second, or several times a short grace period. */
    Duration canaryPeriod() {
        Duration part = nodeMonitorGracePeriod.dividedBy(16);
        return part.compareTo(CANARY_PERIOD) < 0 ? part : CANARY_PERIOD;
    }

    /** For how long a proof of sight may be missing before the controller counts as blind. */
    Duration canaryTolerance() {
        // With a short grace a pause that any process makes now and then is no blindness yet.
        Duration pause = Collections.min(
                List.of(PAUSE, nodeMonitorGracePeriod.multipliedBy(3).dividedBy(8)));
        return Collections.max(List.of(canaryPeriod().multipliedBy(CANARIES_MISSED), pause));
    }

    /** What works, but is likely to be regretted; empty if nothing is. */
    public List<String> warnings() {
        List<String> warnings = new ArrayList<>(detector.warnings());
        if (nodeMonitorGracePeriod.compareTo(CONNECTION_LOSS) < 0) {
            warnings.add("--node-monitor-grace-period=" + GoDuration.format(nodeMonitorGracePeriod)
                    + " is less than the 45s in which a node finds out that its connection is dead;"
                    + " nodes may become Unknown that only had to reconnect");
        }
        return List.copyOf(warnings);
    }

    private static void positive(List<String> faults, String flag, Duration value) {
        if (value.isNegative() || value.isZero()) {
            faults.add(flag + ": must be greater than 0, got " + GoDuration.format(value));
        }
    }
}
