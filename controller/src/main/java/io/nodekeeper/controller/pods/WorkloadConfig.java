package io.nodekeeper.controller.pods;

import java.time.Duration;

/**
 * How the workload of failed nodes is treated. The booleans are feature gates; false is the reference's behaviour.
 *
 * @param observerGuard nothing is deleted before the node was read live
 * @param levelPodMarking pods are marked for what their node is, not for this process' own verdict
 * @param timeAddedEviction tolerations count from the taint's {@code timeAdded}, not from when it was noticed
 * @param durableEviction deletions name the pod's UID and are repeated until done
 * @param orphanLeases leases of nodes that are gone are deleted
 * @param terminatedPodGcThreshold so many finished pods may stay; 0 or less for any number
 * @param nodeMonitorPeriod with level marking off, the time after which a failed marking is repeated
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

    /** Everything better, Kubernetes' default values. */
    public static final WorkloadConfig DEFAULT =
            new WorkloadConfig(true, true, true, true, true, TERMINATED_POD_GC_THRESHOLD, Duration.ofSeconds(5));
    /** Kubernetes' reference behaviour. */
    public static final WorkloadConfig REFERENCE =
            new WorkloadConfig(false, false, false, false, false, TERMINATED_POD_GC_THRESHOLD, Duration.ofSeconds(5));
}
