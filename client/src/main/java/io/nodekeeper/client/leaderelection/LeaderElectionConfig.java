package io.nodekeeper.client.leaderelection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How processes agree on one leader through a Lease.
 *
 * @param leaseDuration for how long others respect a leader that they do not hear from, after they last saw it renew
 * @param renewDeadline for how long a leader believes in itself without a successful renewal
 * @param retryPeriod between tries; those who wait stretch it by up to 1.2 of itself
 * @param namespace of the Lease
 * @param name of the Lease
 * @param releaseOnCancel whether a leader that is stopped gives the lease back, so that the next one need not wait for its
 *     end; kube-controller-manager does not
 */
public record LeaderElectionConfig(
        Duration leaseDuration,
        Duration renewDeadline,
        Duration retryPeriod,
        String namespace,
        String name,
        boolean releaseOnCancel) {
    /** How much those who wait stretch their wait at most, as in client-go. */
    static final double JITTER = 1.2;

    /** kube-controller-manager's lock and times; the lease is given back at a clean stop. */
    public static LeaderElectionConfig defaults() {
        return new LeaderElectionConfig(
                Duration.ofSeconds(15),
                Duration.ofSeconds(10),
                Duration.ofSeconds(2),
                "kube-system",
                "kube-controller-manager",
                true);
    }

    /** All that is wrong with this, in client-go's words; empty if it can be used. */
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
