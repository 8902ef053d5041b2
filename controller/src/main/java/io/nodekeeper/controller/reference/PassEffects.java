package io.nodekeeper.controller.reference;

import io.nodekeeper.api.Node;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.pods.Workload;
import io.nodekeeper.controller.zones.Zones;

/** What follows from a {@link MonitorPass} for zones and pods. Confined to the loop. */
public final class PassEffects implements PassFollower {
    private final Heartbeats heartbeats;
    private final Zones zones;
    private final Workload workload;

    public PassEffects(Heartbeats heartbeats, Zones zones, Workload workload) {
        this.heartbeats = heartbeats;
        this.zones = zones;
        this.workload = workload;
    }

    @Override
    public void judged(Node node, String observedReady, String currentReady) {
        heartbeats.find(node.name()).ifPresent(health -> zones.judged(health, node, observedReady, currentReady));
    }

    @Override
    public void passEnded() {
        zones.passEnded();
    }

    @Override
    public void nodeWentSilent(String name) {
        heartbeats.find(name).ifPresent(health -> workload.nodeWentSilent(name, health.uid()));
    }
}
