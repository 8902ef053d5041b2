package io.nodekeeper.controller.config;

import java.time.Duration;

/**
 * The configuration of {@link Workload}. The booleans are feature gates; false is the reference's behaviour.
 *
 * @param observerGuard whether the node is read live before a deletion
 * @param levelPodMarking whether pods are marked according to their node's state, not only after this process' own
 *     verdict
 * @param timeAddedEviction whether tolerations count from the taint's {@code timeAdded}, not from when it was seen
 * @param durableEviction whether deletions name the pod's UID and are repeated until done
 * @param orphanLeases whether leases of deleted nodes are deleted
 * @param terminatedPodGcThreshold how many finished pods may stay; 0 or less for any number
 * @param nodeMonitorPeriod with level marking disabled, the time after which a failed marking is repeated
 */
public record WorkloadConfig(
        boolean observerGuard,
        boolean levelPodMarking,
        boolean timeAddedEviction,
        boolean durableEviction,
        boolean orphanLeases,
        int terminatedPodGcThreshold,
        Duration nodeMonitorPeriod) {

    /** kube-controller-manager's {@code --terminated-pod-gc-threshold}. */
    public static final int TERMINATED_POD_GC_THRESHOLD = 12_500;

    /** All gates enabled, with Kubernetes' default values. */
    public static final WorkloadConfig DEFAULT =
            new WorkloadConfig(true, true, true, true, true, TERMINATED_POD_GC_THRESHOLD, Duration.ofSeconds(5));
    /** Kubernetes' reference behaviour. */
    public static final WorkloadConfig REFERENCE =
            new WorkloadConfig(false, false, false, false, false, TERMINATED_POD_GC_THRESHOLD, Duration.ofSeconds(5));
}
