package io.nodekeeper.controller;

import java.util.ArrayList;
import java.util.List;

/**
 * How fast nodes of a zone get NoExecute taints. Any values can be held; {@link #faults} tells which of them cannot be
 * worked with.
 *
 * @param nodeEvictionRate nodes a second in a healthy zone
 * @param secondaryNodeEvictionRate nodes a second in a large zone that is partly down
 * @param largeClusterSizeThreshold a zone of more nodes than this is large
 * @param unhealthyZoneThreshold the share of nodes that are not ready from which on a zone is partly down, in (0, 1]
 */
public record ZoneConfig(
        float nodeEvictionRate,
        float secondaryNodeEvictionRate,
        int largeClusterSizeThreshold,
        float unhealthyZoneThreshold) {

    /** Kubernetes' defaults. */
    public static final ZoneConfig DEFAULT = new ZoneConfig(0.1f, 0.01f, 50, 0.55f);

    /** All that is wrong with the values, each naming its flag, its value and what is expected. */
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
