package io.nodekeeper.controller.canary;

import io.nodekeeper.api.Lease;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.explain.ObserverReport;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeStates;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.Now;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.OwnWrites;
import io.nodekeeper.controller.observer.ProofKind;
import io.nodekeeper.controller.observer.Sight;
import io.nodekeeper.controller.observer.SightChange;
import io.nodekeeper.controller.observer.StalledHop;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Proves that the controller sees what is stored: sends canaries, lists the leases while the controller is blind,
 * restarts stalled watches, and reports changes. Confined to the loop.
 */
public final class Observer implements Sight {
    /**
     * The time before a stalled watch is restarted again; doubled each time. A restart usually takes about a second.
     */
    private static final Duration REOPEN_AFTER = Duration.ofSeconds(5);
    /** The longest such time. */
    private static final Duration REOPEN_SELDOM = Duration.ofMinutes(1);

    /**
     * The effects of the observer on the rest of the controller.
     *
     * @param proven checks everything that waits for a proof; called after each proof and each period
     * @param reopen restarts the watches
     */
    public record Effects(Runnable proven, Runnable reopen) {}

    private final ObserverGuard guard;
    private final Canary canary;
    private final LeasePolls polls;
    private final ObserverReport report;
    private final ControllerMetrics metrics;
    private final Now now;
    private final Effects effects;
    private Duration reopenAfter = REOPEN_AFTER;
    private long reopenedAt = Long.MIN_VALUE / 2;

    /** Creates an observer that has not started; {@code identity} identifies this process's canaries. */
    public Observer(
            KubeClient client,
            ControllerConfig config,
            ObserverGuard guard,
            String identity,
            Heartbeats heartbeats,
            NodeStates states,
            ObserverReport report,
            ControllerMetrics metrics,
            RandomGenerator random,
            Now now,
            Effects effects) {
        this.guard = guard;
        this.report = report;
        this.metrics = metrics;
        this.now = now;
        this.effects = effects;
        this.canary = new Canary(
                client,
                guard,
                config.canaryPeriod(),
                identity,
                !config.readOnly(),
                now,
                new SeenLeases(heartbeats, random),
                this::handle);
        this.polls = new LeasePolls(client, config, guard, canary, heartbeats, states, random, now, effects.proven());
    }

    private record SeenLeases(Heartbeats heartbeats, RandomGenerator random) implements Canary.SeenLeases {
        @Override
        public Optional<String> any() {
            return heartbeats.anyLease(random);
        }

        @Override
        public long version(String lease) {
            return heartbeats.leaseVersion(lease);
        }
    }

    /** Starts to check whether the API server responds; does nothing if sight is not guarded. */
    public void start() {
        if (guard.isOn()) {
            canary.start();
        }
    }

    /** Starts to send canaries; called when the leases are watched. */
    public void begin() {
        if (guard.isOn()) {
            canary.begin();
        }
    }

    public void stop() {
        canary.stop();
        polls.stop();
    }

    @Override
    public boolean isProven(long nodeTime) {
        if (guard.proves(nodeTime)) {
            return true;
        }
        canary.demand(guard.whenNodeTime(nodeTime));
        return guard.proves(nodeTime);
    }

    /** Whether {@code lease}, which the watch delivered, is a canary; processes it if so. */
    public boolean isCanary(Lease lease) {
        return canary.saw(lease, ProofKind.WATCH);
    }

    /** Everything that came with the last leases has been processed. */
    public void settle() {
        canary.settle();
    }

    /** This process wrote a lease that belongs to no node; see {@link OwnWrites#acknowledged}. */
    public void leaseWritten(long sentAt, long acknowledgedAt, long period) {
        polls.wrote(sentAt, acknowledgedAt, period);
    }

    /** The number of entries of each queue, by name. */
    public Map<String, Integer> sizes() {
        return Map.of("canaries", canary.size(), "own writes", polls.size());
    }

    private void handle(Canary.Event event) {
        switch (event) {
            case Canary.Event.Proven() -> effects.proven().run();
            case Canary.Event.Took took -> metrics.lag(took.hop(), took.nanos() / 1e9);
            case Canary.Event.SightChanged(SightChange change) -> {
                canary.condition(report.changed(change, now.nanos()));
                report.blindFor(guard.takeBlindTime());
                if (change instanceof SightChange.Sees) {
                    reopenAfter = REOPEN_AFTER;
                }
            }
            case Canary.Event.Ticked() -> {
                effects.proven().run();
                report.ticked(guard, now.nanos());
                polls.ticked();
                if (guard.isBlind(now.nanos()) && guard.hop() == StalledHop.WATCH) {
                    reopen();
                }
            }
        }
    }

    /** Restarts the watches; less and less often, because a watch that is only slow needs time. */
    private void reopen() {
        if (now.nanos() - reopenedAt >= reopenAfter.toNanos()) {
            reopenedAt = now.nanos();
            reopenAfter = Collections.min(List.of(reopenAfter.multipliedBy(2), REOPEN_SELDOM));
            effects.reopen().run();
        }
    }
}
