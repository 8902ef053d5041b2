package io.nodekeeper.controller.config;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The configuration of the controller. It can hold any values; {@link #faults} lists the invalid ones.
 *
 * @param nodeMonitorPeriod how much later a node that joins and was never Ready gets a NoExecute taint; with gates
 *     disabled, also how often all nodes are checked, as in the reference
 * @param nodeMonitorGracePeriod the time without heartbeats after which a node that has reported counts as unreachable
 * @param nodeStartupGracePeriod the same for a node that has never reported
 * @param zones how fast nodes are tainted
 * @param detector how a node's grace period is determined
 * @param flaps when a node counts as flapping
 * @param gates the enabled improvements over the reference
 * @param readOnly whether the controller writes nothing, not even canaries
 * @param terminatedPodGcThreshold how many finished pods may stay; 0 or less for any number
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

    /** A configuration with these periods and otherwise defaults. */
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

    /** The same for a read-only controller. */
    public ControllerConfig observing() {
        return with(zones, detector, flaps, gates, true, terminatedPodGcThreshold);
    }

    /** The part of it for pods. */
    public WorkloadConfig workload() {
        return new WorkloadConfig(
                gates.has(ControllerFeature.OBSERVER_GUARD),
                gates.has(ControllerFeature.LEVEL_POD_MARKING),
                gates.has(ControllerFeature.TIME_ADDED_EVICTION),
                gates.has(ControllerFeature.DURABLE_EVICTION),
                gates.has(ControllerFeature.ORPHAN_LEASES),
                terminatedPodGcThreshold,
                nodeMonitorPeriod);
    }

    /** Whether what is known of a node is forgotten with the node, so that a recreated one does not inherit it. */
    public boolean stateByUid() {
        return gates.has(ControllerFeature.STATE_BY_UID);
    }

    /** Whether any change of {@code renewTime} is a renewal, and not only a later time. */
    public boolean clockImmune() {
        return gates.has(ControllerFeature.CLOCK_IMMUNITY);
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
            boolean readsOnly,
            int finishedPods) {
        return new ControllerConfig(
                nodeMonitorPeriod,
                nodeMonitorGracePeriod,
                nodeStartupGracePeriod,
                rates,
                grace,
                damping,
                open,
                readsOnly,
                finishedPods);
    }

    /**
     * The deadline of each single call, which usually takes milliseconds. A slow answer only delays verdicts; with a
     * longer deadline, a lost request would delay its verdict by as much.
     */
    public static final Duration CALL_TIMEOUT = Duration.ofSeconds(2);
    /**
     * How often the controller proves its sight: a write per second costs the server nothing, and a verdict waits at
     * most so long for a proof. Three missed canaries make it blind: one or two may be slow writes, and the tolerance
     * of 3 s is a small part of the default grace of 50 s.
     */
    private static final Duration CANARY_PERIOD = Duration.ofSeconds(1);
    /** See {@link #CANARY_PERIOD}. */
    private static final int CANARIES_MISSED = 3;
    /** See {@link #CANARY_PERIOD}. */
    private static final Duration PAUSE = Duration.ofMillis(1_500);

    /**
     * The time in which an HTTP/2 client detects a dead connection: 30 s idle and 15 s without a response to a ping.
     */
    private static final Duration CONNECTION_LOSS = Duration.ofSeconds(45);

    /** The faults of the values, each with its flag, its value and what was expected; empty if there are none. */
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

    /** The period of canaries: 1 s, or a fraction of a short grace period. */
    public Duration canaryPeriod() {
        Duration part = nodeMonitorGracePeriod.dividedBy(16);
        return part.compareTo(CANARY_PERIOD) < 0 ? part : CANARY_PERIOD;
    }

    /** How long a proof of sight may be missing before the controller counts as blind. */
    public Duration canaryTolerance() {
        // With a short grace period, an ordinary pause of a process must not count as blindness.
        Duration pause = Collections.min(
                List.of(PAUSE, nodeMonitorGracePeriod.multipliedBy(3).dividedBy(8)));
        return Collections.max(List.of(canaryPeriod().multipliedBy(CANARIES_MISSED), pause));
    }

    /** Valid values that are likely to cause trouble; empty if there are none. */
    public List<String> warnings() {
        List<String> warnings = new ArrayList<>(detector.warnings());
        if (nodeMonitorGracePeriod.compareTo(CONNECTION_LOSS) < 0) {
            warnings.add("--node-monitor-grace-period=" + GoDuration.format(nodeMonitorGracePeriod)
                    + " is less than the 45s that a node needs to detect a dead connection; nodes that only have to"
                    + " reconnect may become Unknown");
        }
        return List.copyOf(warnings);
    }

    private static void positive(List<String> faults, String flag, Duration value) {
        if (value.isNegative() || value.isZero()) {
            faults.add(flag + ": must be greater than 0, got " + GoDuration.format(value));
        }
    }
}
