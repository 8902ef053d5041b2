package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
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

    /** Reads {@code cpuManagerPolicy}, {@code cpuManagerReconcilePeriod} and {@code reservedSystemCPUs}. */
    static CpuConfig read(ConfigFields fields) {
        String policy = fields.either("cpuManagerPolicy", NONE, STATIC).orElse(NONE);
        Duration every = fields.duration("cpuManagerReconcilePeriod", "10s").orElse(DEFAULT.reconcilePeriod);
        if (!every.isPositive()) {
            fields.fault("cpuManagerReconcilePeriod must be greater than 0, got " + GoDuration.format(every));
        }
        CpuSet reserved = CpuSet.EMPTY;
        try {
            String list = fields.take(
                            "reservedSystemCPUs", "a list of processors", value -> Optional.of(String.valueOf(value)))
                    .orElse("");
            reserved = CpuSet.parse(list);
        } catch (IllegalArgumentException e) {
            fields.fault("reservedSystemCPUs: " + e.getMessage());
        }
        return new CpuConfig(policy.equals(STATIC), every, reserved);
    }
}
