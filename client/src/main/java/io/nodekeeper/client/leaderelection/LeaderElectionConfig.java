package io.nodekeeper.client.leaderelection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The configuration of a leader election through a Lease.
 * @param leaseDuration how long others wait after they last saw the leader renew
 * @param renewDeadline how long a leader leads without a successful renewal
 * @param retryPeriod the time between attempts; candidates that wait add a jitter of up to 120 %
 * @param namespace of the Lease
 * @param name of the Lease
 * @param releaseOnCancel whether a leader that is stopped releases the lease, so that the next one need not wait until
 *     it expires; kube-controller-manager does not
 */
public record LeaderElectionConfig(
        Duration leaseDuration,
        Duration renewDeadline,
        Duration retryPeriod,
        String namespace,
        String name,
        boolean releaseOnCancel) {
    /** The largest jitter of candidates that wait, as in client-go. */
    static final double JITTER = 1.2;

    /** kube-controller-manager's lock and times; a clean stop releases the lease. */
    public static LeaderElectionConfig defaults() {
        return new LeaderElectionConfig(
                Duration.ofSeconds(15),
                Duration.ofSeconds(10),
                Duration.ofSeconds(2),
                "kube-system",
                "kube-controller-manager",
                true);
    }

    /** The faults, with client-go's texts; empty if there are none. */
    public List<String> faults() {
        List<String> faults = new ArrayList<>();
        if (leaseDuration.compareTo(renewDeadline) <= 0) {
            faults.add("leaseDuration must be greater than renewDeadline");
        }
        if (renewDeadline.toNanos() <= retryPeriod.toNanos() * JITTER) {
            faults.add("renewDeadline must be greater than retryPeriod*JitterFactor");
        }
        positive("leaseDuration", leaseDuration, faults);
        positive("renewDeadline", renewDeadline, faults);
        positive("retryPeriod", retryPeriod, faults);
        if (namespace.isEmpty()) {
            faults.add("the namespace of the lock must not be empty");
        }
        if (name.isEmpty()) {
            faults.add("the name of the lock must not be empty");
        }
        return faults;
    }

    /** The deadline of each call about the lock: half of the renew deadline, at least 1 s (Kubernetes). */
    public Duration callTimeout() {
        Duration half = renewDeadline.dividedBy(2);
        return half.compareTo(Duration.ofSeconds(1)) < 0 ? Duration.ofSeconds(1) : half;
    }

    /** The lease's duration as it is written: rounded up, as others may wait longer but never shorter than agreed. */
    long leaseSeconds() {
        return leaseDuration.plusNanos(999_999_999).toSeconds();
    }

    private static void positive(String field, Duration value, List<String> faults) {
        if (!value.isPositive()) {
            faults.add(field + " must be greater than zero");
        }
    }
}
