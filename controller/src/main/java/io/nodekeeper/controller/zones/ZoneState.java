package io.nodekeeper.controller.zones;

import io.nodekeeper.controller.config.ZoneConfig;

/** The state of a zone, with Kubernetes' names. */
public enum ZoneState {
    /** No node counted yet. */
    INITIAL("Initial"),
    /** At most a few nodes are not ready. */
    NORMAL("Normal"),
    /** So many nodes are not ready that the cause is probably not in the nodes. */
    PARTIAL_DISRUPTION("PartialDisruption"),
    /** All nodes are not ready. */
    FULL_DISRUPTION("FullDisruption");

    /** A zone with fewer nodes that are not ready is not disrupted, however small it is; Kubernetes' value. */
    private static final int FEW = 3;

    private final String text;

    ZoneState(String text) {
        this.text = text;
    }

    /** The state of a zone with these counts; a node that never reported is not ready. */
    public static ZoneState of(int ready, int notReady, float unhealthyThreshold) {
        if (ready == 0 && notReady > 0) {
            return FULL_DISRUPTION;
        }
        if (notReady >= FEW && (float) notReady / (notReady + ready) >= unhealthyThreshold) {
            return PARTIAL_DISRUPTION;
        }
        return NORMAL;
    }

    /**
     * How many nodes per second may be tainted in a zone of {@code size} nodes, while some zone is not fully disrupted.
     */
    public float rate(ZoneConfig config, int size) {
        if (this != PARTIAL_DISRUPTION) {
            return config.nodeEvictionRate();
        }
        return size > config.largeClusterSizeThreshold() ? config.secondaryNodeEvictionRate() : 0;
    }

    @Override
    public String toString() {
        return text;
    }
}
