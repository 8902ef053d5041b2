package io.nodekeeper.controller;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long heartbeats take on their way, how far apart they are, and how wrong the nodes' clocks: for people, who choose the
 * grace; no verdict depends on it. Confined to the loop.
 */
final class HeartbeatLags {
    private static final Logger log = LoggerFactory.getLogger(HeartbeatLags.class);
    /** Histograms tell of the last one to two windows. Chosen. */
    private static final long WINDOW = Duration.ofMinutes(10).toNanos();

    private final Clock clock;
    private final Duration grace;
    private final ObserverGuard guard;
    private final Explanations explanations;
    private final ControllerMetrics metrics;
    private final SteadyClock steady;
    private final LagHistogram gaps = new LagHistogram();
    private final LagHistogram lags = new LagHistogram();
    private long windowEnd;

    HeartbeatLags(
            ControllerConfig config,
            Clock clock,
            ObserverGuard guard,
            Explanations explanations,
            ControllerMetrics metrics,
            long now) {
        this.clock = clock;
        this.grace = config.nodeMonitorGracePeriod();
        this.guard = guard;
        this.explanations = explanations;
        this.metrics = metrics;
        this.steady = new SteadyClock(now, KubeTime.micros(clock.wallTime()));
        this.windowEnd = now + WINDOW;
    }

    /**
     * The watch brought a renewal.
     *
     * @param renewMicros when the node says that it made it
     * @param gap since the last sign of life, nanoseconds of the time in which this process could see
     */
    void renewed(NodeHealth health, long renewMicros, long gap, long now) {
        if (!health.silenced) {
            gaps.record(gap, health.name);
        }
        long arrived = steady.micros(now);
        long lag = ClockSkew.lag(health.skew, renewMicros, arrived);
        boolean known = health.skew.isKnown();
        // What was held up because the watch or this process stood still says nothing about the node's clock.
        if (!guard.isBlind(now) && ClockSkew.heard(health.skew, renewMicros, arrived)) {
            health.lagMicros = -1;
            explanations.clockSet(health);
        } else if (known) {
            health.lagMicros = lag;
            lags.record(lag * 1_000, health.name);
            metrics.lag(Hop.NODE_TO_CONTROLLER, lag / 1e6);
        }
    }

    /** To be called now and then: begins new windows, and compares clocks. */
    void tend(Collection<NodeHealth> nodes, long now) {
        if (now >= windowEnd) {
            gaps.rotate();
            lags.rotate();
            windowEnd = now + WINDOW;
        }
        long jump = steady.check(now, KubeTime.micros(clock.wallTime()));
        if (jump != 0) {
            log.warn(
                    "this machine's clock was set {} by {}; ages do not depend on it",
                    jump > 0 ? "ahead" : "back",
                    Heartbeats.age(Math.abs(jump) * 1_000));
        }
        long most = 0;
        for (NodeHealth health : nodes) {
            if (health.skew.isKnown()) {
                ClockSkew.Skew skew = ClockSkew.skew(health.skew, steady.shift());
                most = Math.max(most, skew.atLeast() > 0 ? skew.atLeast() : Math.max(0, -skew.atMost()));
            }
        }
        metrics.clockSkew(most / 1e6);
    }

    /** What is known of the node's clock; empty if nothing is. */
    String skew(NodeHealth health) {
        return health.skew.isKnown()
                ? ClockSkew.skew(health.skew, steady.shift()).text()
                : "";
    }

    /** All of it, with advice on the grace. */
    JsonObject json() {
        return new LagAdvice(gaps.summary(), lags.summary(), grace).json();
    }
}
