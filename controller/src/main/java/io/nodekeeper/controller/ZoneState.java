package io.nodekeeper.controller;

/** How much of a zone is down, in Kubernetes' words. */
enum ZoneState {
    /** Nobody counted yet. */
    INITIAL("Initial"),
    /** Single nodes may be down. */
    NORMAL("Normal"),
    /** So many are down that it is probably not about the nodes. */
    PARTIAL_DISRUPTION("PartialDisruption"),
    /** All are down. */
    FULL_DISRUPTION("FullDisruption");

    /** With fewer nodes down than this a zone is not disrupted, however small it is. Kubernetes' number. */
    private static final int FEW = 3;

    private final String text;

    ZoneState(String text) {
        this.text = text;
    }

    /** The state of a zone of so many nodes; one that never reported is not ready. */
    static ZoneState of(int ready, int notReady, float unhealthyThreshold) {
        if (ready == 0 && notReady > 0) {
            return FULL_DISRUPTION;
        }
        if (notReady >= FEW && (float) notReady / (notReady + ready) >= unhealthyThreshold) {
            return PARTIAL_DISRUPTION;
        }
        return NORMAL;
    }

    /** Nodes a second that may be tainted in a zone of {@code size} nodes, as long as some zone is not fully down. */
    float rate(ZoneConfig config, int size) {
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
