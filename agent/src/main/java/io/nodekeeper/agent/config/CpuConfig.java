package io.nodekeeper.agent.config;

import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Options for processors that pods have for themselves. Without effect unless the gate {@code PodLifecycle} is on. Immutable.
 *
 * @param exclusive whether guaranteed pods get whole processors ({@code cpuManagerPolicy: static}; {@code none})
 * @param reconcilePeriod how often the processors of running containers are corrected ({@code cpuManagerReconcilePeriod}, 10 s)
 * @param reserved processors that no pod gets for itself ({@code reservedSystemCPUs}); empty for as many as are reserved by
 *     amount
 */
public record CpuConfig(boolean exclusive, Duration reconcilePeriod, CpuSet reserved) {
    /** The kubelet's defaults. */
    public static final CpuConfig DEFAULT = new CpuConfig(false, Duration.ofSeconds(10), CpuSet.EMPTY);

    private static final String NONE = "none";
    private static final String STATIC = "static";

    /** The kubelet's name of the policy. */
    public String policy() {
        return exclusive ? STATIC : NONE;
    }

    /**
     * Reads the fields of a configuration file.
     *
     * @param fields from which it removes what it reads
     * @param period the value of {@code cpuManagerReconcilePeriod}
     * @param faults receives what is wrong
     */
    static CpuConfig read(Map<String, Object> fields, Optional<Duration> period, List<String> faults) {
        Object policy = Optional.ofNullable(fields.remove("cpuManagerPolicy")).orElse(NONE);
        if (!policy.equals(NONE) && !policy.equals(STATIC)) {
            faults.add("cpuManagerPolicy must be none or static, got " + policy);
        }
        Duration every = period.orElse(DEFAULT.reconcilePeriod());
        if (!every.isPositive()) {
            faults.add("cpuManagerReconcilePeriod must be greater than 0, got " + GoDuration.format(every));
        }
        CpuSet reserved = CpuSet.EMPTY;
        Object list = Optional.ofNullable(fields.remove("reservedSystemCPUs")).orElse("");
        try {
            reserved = CpuSet.parse(String.valueOf(list));
        } catch (IllegalArgumentException e) {
            faults.add("reservedSystemCPUs: " + e.getMessage());
        }
        return new CpuConfig(policy.equals(STATIC), every, reserved);
    }
}
