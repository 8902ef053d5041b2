package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.Condition;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.observer.Now;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.ProofQueue;
import io.nodekeeper.controller.observer.Sight;
import io.nodekeeper.time.DeadlineWheel;
import java.time.Duration;
import java.util.function.BiConsumer;

/**
 * Reports nodes whose heartbeat is later than usual ({@link Suspicion}), well before the grace period ends. It is for
 * people and alerts; the controller takes no action. As with verdicts, a node does not become suspect because this
 * process had no sight. Confined to the loop.
 */
public final class EarlyWarning {
    private final Duration recheckAfter;
    private final Heartbeats heartbeats;
    private final ObserverGuard guard;
    private final Sight sight;
    private final BiConsumer<NodeHealth, String> suspected;
    private final ControllerMetrics metrics;
    private final Now now;
    private final DeadlineWheel<NodeHealth> wheel = new DeadlineWheel<>();
    private final ProofQueue<NodeHealth> waiting = new ProofQueue<>();
    private int suspects;

    /** {@code suspected} is called with each node that becomes suspect, and why. */
    public EarlyWarning(
            ControllerConfig config,
            Heartbeats heartbeats,
            ObserverGuard guard,
            Sight sight,
            BiConsumer<NodeHealth, String> suspected,
            ControllerMetrics metrics,
            Now now) {
        this.now = now;
        this.recheckAfter = config.canaryTolerance();
        this.heartbeats = heartbeats;
        this.guard = guard;
        this.sight = sight;
        this.suspected = suspected;
        this.metrics = metrics;
    }

    /** The node sent a heartbeat. */
    public void heard(NodeHealth health) {
        calm(health);
        long patience = heartbeats.patience(health);
        // A warning at the deadline would be too late.
        if (patience < heartbeats.grace(health)) {
            wheel.set(health.warningDeadline, guard.whenNodeTime(health.last.heardAt() + patience));
        } else {
            wheel.cancel(health.warningDeadline);
        }
    }

    /** The node was deleted or declared Unknown, so the suspicion ends. */
    public void settled(NodeHealth health) {
        wheel.cancel(health.warningDeadline);
        calm(health);
    }

    /** The next time to call {@link #poll}. */
    public long nextWake() {
        return wheel.nextWake();
    }

    /** Finds the nodes that are late. */
    public void poll(long now) {
        wheel.poll(now, health -> late(health, now));
    }

    /**
     * When the node becomes suspect, on the nodes' clock. Any heartbeat counts, though only one kind determines the
     * rhythm.
     */
    private long suspectAt(NodeHealth health) {
        return health.last.heardAt() + heartbeats.patience(health);
    }

    private void late(NodeHealth health, long now) {
        long at = suspectAt(health);
        if (!heartbeats.isCurrent(health) || health.last.silenced()) {
            return;
        }
        if (health.ready().equals(Condition.UNKNOWN)) {
            // Another controller has declared it Unknown.
            calm(health);
            return;
        }
        if (health.isSuspect()) {
            wheel.set(health.warningDeadline, now + recheckAfter.toNanos());
            return;
        }
        if (now <= guard.whenNodeTime(at)) {
            wheel.set(health.warningDeadline, guard.whenNodeTime(at));
            return;
        }
        waiting.add(health, () -> isDecided(health, at));
        // Only this one: while the controller is blind, all others wait, too, and their number grows with each call.
        waiting.sweep(health);
    }

    /** More may be proven than before. */
    public void checkWaiting() {
        waiting.sweep();
    }

    private boolean isDecided(NodeHealth health, long at) {
        if (!heartbeats.isCurrent(health) || health.last.silenced() || suspectAt(health) != at) {
            return true;
        }
        long due = guard.whenNodeTime(at);
        if (now.nanos() <= due) {
            // The nodes' clock was set back since.
            wheel.set(health.warningDeadline, due);
            return true;
        }
        if (!sight.isProven(at)) {
            return false;
        }
        if (!health.isSuspect()) {
            suspect(health, at);
        }
        wheel.set(health.warningDeadline, guard.whenNodeTime(at) + recheckAfter.toNanos());
        return true;
    }

    private void suspect(NodeHealth health, long at) {
        health.suspect(true);
        metrics.suspected();
        metrics.suspects(++suspects);
        String text = "no heartbeat for " + Ages.text(at - health.last.heardAt()) + ", usually every "
                + Ages.text((long) (health.rhythm.meanGap() * 1e9)) + "; the node becomes Unknown after "
                + Ages.text(heartbeats.grace(health));
        suspected.accept(health, text);
    }

    private void calm(NodeHealth health) {
        if (health.isSuspect()) {
            health.suspect(false);
            metrics.suspects(--suspects);
        }
    }
}
