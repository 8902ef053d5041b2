package io.nodekeeper.cli;

import io.nodekeeper.agent.StartListener;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.metrics.StartupTracker;
import io.nodekeeper.time.Clock;

/** Measures how an agent's start goes. */
record StartupMarks(AgentMetrics metrics, StartupTracker tracker, Clock clock) implements StartListener {
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
