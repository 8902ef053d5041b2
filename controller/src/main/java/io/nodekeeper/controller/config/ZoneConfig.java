package io.nodekeeper.controller.config;

import java.util.ArrayList;
import java.util.List;

/**
 * The rates at which nodes of a zone get NoExecute taints. It can hold any values; {@link #faults} lists the invalid
 * ones.
 *
 * @param nodeEvictionRate nodes per second in a healthy zone
 * @param secondaryNodeEvictionRate nodes per second in a large zone that is partly disrupted
 * @param largeClusterSizeThreshold a zone of more nodes than this is large
 * @param unhealthyZoneThreshold the share of nodes that are not ready at which a zone is partly disrupted, in (0, 1]
 */
public record ZoneConfig(
        float nodeEvictionRate,
        float secondaryNodeEvictionRate,
        int largeClusterSizeThreshold,
        float unhealthyZoneThreshold) {

    /** Kubernetes' defaults. */
    public static final ZoneConfig DEFAULT = new ZoneConfig(0.1f, 0.01f, 50, 0.55f);

    /** The faults of the values, each with its flag, its value and what was expected. */
    List<String> faults() {
        List<String> faults = new ArrayList<>();
        rate(faults, "--node-eviction-rate", nodeEvictionRate);
        rate(faults, "--secondary-node-eviction-rate", secondaryNodeEvictionRate);
        if (largeClusterSizeThreshold < 0) {
            faults.add("--large-cluster-size-threshold: must be 0 or more, got " + largeClusterSizeThreshold);
        }
        if (!(unhealthyZoneThreshold > 0 && unhealthyZoneThreshold <= 1)) {
            faults.add(
                    "--unhealthy-zone-threshold: must be greater than 0 and at most 1, got " + unhealthyZoneThreshold);
        }
        return faults;
    }

    private static void rate(List<String> faults, String flag, float value) {
        if (!(value >= 0) || Float.isInfinite(value)) {
            faults.add(flag + ": must be 0 or more, got " + value);
        }
    }
}
