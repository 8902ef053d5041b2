package io.nodekeeper.controller.lags;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures how long heartbeats take, the gaps between them, and the skew of the nodes' clocks. For people, who choose
 * the grace period; no verdict depends on it. Confined to the loop.
 */
public final class HeartbeatLags {
    private static final Logger log = LoggerFactory.getLogger(HeartbeatLags.class);
    /**
     * Histograms cover the last one to two windows. Ten minutes have 60 heartbeats of a node, so that rare delays show,
     * and are short enough that a problem that is over soon disappears.
     */
    private static final long WINDOW = Duration.ofMinutes(10).toNanos();

    /** The longest lag that is recorded, in µs: a day. A node chooses the time of its renewal, a single one centuries away. */
    private static final long MOST = Duration.ofDays(1).toNanos() / 1_000;

    private final Clock clock;
    private final Duration grace;
    private final ObserverGuard guard;
    private final ControllerMetrics metrics;
    private final SteadyClock steady;
    private final LagHistogram gaps = new LagHistogram();
    private final LagHistogram lags = new LagHistogram();
    private long windowEnd;

    public HeartbeatLags(
            ControllerConfig config, Clock clock, ObserverGuard guard, ControllerMetrics metrics, long now) {
        this.clock = clock;
        this.grace = config.nodeMonitorGracePeriod();
        this.guard = guard;
        this.metrics = metrics;
        this.steady = new SteadyClock(now, KubeTime.micros(clock.wallTime()));
        this.windowEnd = now + WINDOW;
    }

    /**
     * The watch delivered a renewal. True if it shows that the node's clock was set, and no other one did within a minute
     * before.
     *
     * @param state what is remembered of the node
     * @param renewMicros when the node made the renewal by its own clock
     * @param gap since the last heartbeat, nanoseconds of the time in which the controller could see
     * @param returned whether it is the first heartbeat since the node was declared Unknown, or the node is still
     *     Unknown, so that its gap is not usual
     */
    public boolean renewed(String node, LagState state, long renewMicros, long gap, boolean returned, long now) {
        if (!returned) {
            gaps.record(gap, node);
        }
        long arrived = steady.micros(now);
        long lag = Math.min(MOST, ClockSkew.lag(state.skew, renewMicros, arrived));
        boolean known = state.skew.isKnown();
        // A renewal that was delayed because the watch or this process hung says nothing about the node's clock.
        if (!guard.isBlind(now) && ClockSkew.heard(state.skew, renewMicros, arrived)) {
            state.micros(-1);
            return state.reports(now);
        }
        if (known) {
            state.micros(lag);
            lags.record(lag * 1_000, node);
            metrics.lag(Hop.NODE_TO_CONTROLLER, lag / 1e6);
        }
        return false;
    }

    /** Starts new windows and compares clocks; called periodically. */
    public void tend(Collection<LagState> nodes, long now) {
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
                    Ages.text(TimeUnit.MICROSECONDS.toNanos(Math.abs(jump))));
        }
        long most = 0;
        for (LagState state : nodes) {
            if (state.skew.isKnown()) {
                ClockSkew.Skew skew = ClockSkew.skew(state.skew, steady.shift());
                most = Math.max(most, skew.atLeast() > 0 ? skew.atLeast() : Math.max(0, -skew.atMost()));
            }
        }
        metrics.clockSkew(most / 1e6);
    }

    /** The estimate of the node's clock skew; empty if there is none. */
    public String skew(LagState state) {
        return state.skew.isKnown() ? ClockSkew.skew(state.skew, steady.shift()).text() : "";
    }

    /** All measurements, with advice on the grace period. */
    public JsonObject json() {
        return new LagAdvice(gaps.summary(), lags.summary(), grace).json();
    }
}
