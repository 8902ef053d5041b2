package io.nodekeeper.agent;

import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.metrics.StartupTracker;
import io.nodekeeper.time.Clock;

/** Records in metrics how long each part of an agent's start takes. Confined to the agent's loop. */
record StartupRecorder(AgentMetrics metrics, StartupTracker tracker, Clock clock) implements StartListener {
    @Override
    public void attempted() {
        metrics.startup(tracker.attempted(clock.nanoTime()));
    }

    @Override
    public void created() {
        metrics.startup(tracker.created(clock.nanoTime()));
    }

    @Override
    public void ready() {
        metrics.startup(tracker.ready(clock.nanoTime()));
    }
}
