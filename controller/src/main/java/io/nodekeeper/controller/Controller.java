package io.nodekeeper.controller;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.controller.pods.Workload;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The node lifecycle controller: it follows nodes and their leases, declares Unknown what has been silent for longer than
 * its grace, and keeps NoSchedule taints in step with conditions. Deadlines are watched one by one; no pass over all
 * nodes is ever made for them. Confined to its loop, but {@link #start} and {@link #stop} may be called from anywhere.
 */
public final class Controller {
    private static final Logger log = LoggerFactory.getLogger(Controller.class);
    /** How often clocks are compared and windows begun. Chosen: a Prometheus scrape. */
    private static final Duration TEND = Duration.ofSeconds(30);
    /** How long a watch that is opened again has to tell something before it is opened once more; doubled each time. */
    private static final Duration REOPEN_AFTER = Duration.ofSeconds(5);
    /** The longest such time. */
    private static final Duration REOPEN_SELDOM = Duration.ofMinutes(1);

    private final ControllerConfig config;
    private final Loop loop;
    private final long origin;
    private final NodeEvents events;
    private final DeadlineWheel<NodeHealth> wheel = new DeadlineWheel<>();
    private final Heartbeats heartbeats;
    private final PriorityWorkQueue lanes;
    private final ObserverGuard guard;
    private final Canary canary;
    private final LeasePolls polls;
    private final ObserverReport report;
    private final Explanations explanations;
    private final Judge judge;
    private final Optional<EarlyWarning> warning;
    private final HeartbeatLags lags;
    private final Zones zones;
    private final Tainter tainter;
    private final Labels labels;
    private final Workload workload;
    private final Roster roster;
    /** Judges instead of wheel and judge, with the gate WatchDrivenDeadlines closed. */
    private final Optional<MonitorPass> pass;

    private final Reflector leases;
    private final Reflector nodes;

    private final ControllerMetrics metrics;
    private Duration reopenAfter = REOPEN_AFTER;
    private long reopenedAt = Long.MIN_VALUE / 2;
    private boolean stopped;
    private Loop.@Nullable Timer wakeTimer;
    private long wakeAt = DeadlineWheel.NEVER;

    /**
     * A controller at rest.
     *
     * @throws IllegalArgumentException naming all faults of {@code config}
     */
    public Controller(ControllerConfig config, ControllerPorts ports) {
        if (!config.faults().isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", config.faults()));
        }
        this.config = config;
        this.lanes = new PriorityWorkQueue(new LaneMetrics(ports.metrics()));
        KubeClient client = lanes.measured(ports.client().withTimeout(ControllerConfig.CALL_TIMEOUT));
        RandomGenerator random = ports.random();
        this.loop = ports.loop();
        this.origin = loop.clock().nanoTime();
        this.events = new NodeEvents(ports.recorders().apply("node-controller"));
        boolean watchDriven = config.gates().has(FeatureGate.WATCH_DRIVEN_DEADLINES);
        // The reference's pass is guarded by its live look alone: it has no deadlines for which sight could be proved.
        this.guard = watchDriven && config.gates().has(FeatureGate.OBSERVER_GUARD)
                ? ObserverGuard.watching(config.canaryPeriod(), config.canaryTolerance())
                : ObserverGuard.off();
        this.explanations = new Explanations(config.gates(), ports.history(), loop.clock());
        this.report = new ObserverReport(explanations, events, ports.metrics());
        this.metrics = ports.metrics();
        this.lags = new HeartbeatLags(config, loop.clock(), guard, explanations, metrics, now());
        this.heartbeats = new Heartbeats(config, guard, wheel, new Signs());
        this.canary = new Canary(
                client,
                guard,
                config.canaryPeriod(),
                "nodekeeper-" + Long.toHexString(random.nextLong()),
                !config.readOnly(),
                this::now,
                new FromCanary(random));
        this.polls = new LeasePolls(client, config, guard, canary, heartbeats, random, this::now, this::look);
        this.zones = Zones.of(config, ports, explanations.history(), heartbeats::nodes, this::recheck, this::forgive);
        Bench bench = new Bench();
        this.warning = watchDriven && config.gates().has(FeatureGate.EARLY_WARNING)
                ? Optional.of(new EarlyWarning(
                        config, heartbeats, guard, bench::isProven, explanations, events, metrics, this::now))
                : Optional.empty();
        Optional<Flaps> flaps = config.gates().has(FeatureGate.FLAP_DAMPING)
                ? Optional.of(new Flaps(
                        config.flaps(),
                        client,
                        lanes,
                        heartbeats,
                        explanations,
                        events,
                        metrics,
                        this::recheck,
                        this::now))
                : Optional.empty();
        this.tainter = new Tainter(
                client,
                random,
                heartbeats,
                lanes,
                config.gates(),
                zones,
                flaps.<Damping>map(damping -> damping).orElse(Damping.NONE),
                explanations.history(),
                this::wrote);
        this.workload = new Workload(
                config.workload(),
                ports.client(),
                lanes,
                ports.recorders(),
                random,
                ports.metrics(),
                explanations.history());
        this.labels = new Labels(client, lanes);
        this.roster = new Roster(
                loop.clock(),
                this::now,
                heartbeats,
                canary,
                warning,
                flaps,
                zones,
                workload,
                List.of(zones, tainter, labels, new ToWorkload()),
                explanations,
                events,
                watchDriven,
                new FromRoster());
        this.judge = new Judge(client, heartbeats, guard, lanes, bench, this::now);
        Reflector.RawHandler leaseHandler = roster.leases();
        Reflector.Handler nodeHandler = roster.nodes();
        this.pass = watchDriven
                ? Optional.empty()
                : Optional.of(
                        new MonitorPass(config, ports, client, events, new AfterPass(), nodeHandler, leaseHandler));
        // Lists of all nodes may take longer than single calls: they keep the caller's deadline.
        this.leases = new Reflector(
                ports.client(),
                Selection.inNamespace(ResourceType.LEASES, Lease.NODE_NAMESPACE),
                random,
                pass.map(MonitorPass::leases).orElse(leaseHandler));
        this.nodes = new Reflector(
                ports.client(),
                Selection.all(ResourceType.NODES),
                random,
                pass.map(MonitorPass::nodes).orElse(nodeHandler));
    }

    /** Begins to follow leases and nodes; judges from the moment on at which both are known. */
    public void start() {
        config.warnings().forEach(warning -> log.warn("{}", warning));
        leases.start();
        workload.start();
        loop.execute(() -> {
            if (guard.isOn() && !stopped) {
                canary.start();
            }
        });
    }

    /** Writes nothing more and follows no more; calls under way are not waited for. */
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            lanes.close();
            zones.stop();
            workload.stop();
            pass.ifPresent(MonitorPass::stop);
            leases.stop();
            nodes.stop();
            canary.stop();
            polls.stop();
            if (wakeTimer != null) {
                wakeTimer.cancel();
            }
        });
    }

    /**
     * This process wrote a lease that is no node's, such as the lock of its leadership. That is a proof of sight where the
     * canary is refused. Thread-safe.
     *
     * @param sentAt when the write was sent, nanoseconds by the loop's monotonic clock
     * @param acknowledgedAt when its success was known, by the same clock
     * @param period the usual time from one such write to the next
     */
    public void leaseWritten(long sentAt, long acknowledgedAt, Duration period) {
        loop.execute(() -> polls.wrote(sentAt - origin, acknowledgedAt - origin, period.toNanos()));
    }

    /** What this controller can be asked while it works. */
    public ControllerView view() {
        return new LoopView(
                loop,
                heartbeats,
                lags,
                this::now,
                () -> guard.json(now()),
                () -> guard.blindness(now()),
                this::unready);
    }

    /** How many entries each queue and map holds that follows nodes, leases and pods, by name. On the loop. */
    Map<String, Integer> sizes() {
        Map<String, Integer> sizes = new TreeMap<>(workload.sizes());
        sizes.putAll(heartbeats.sizes());
        sizes.put("taint writes", tainter.size());
        sizes.put("label writes", labels.size());
        sizes.put("canaries", canary.size());
        sizes.put("own writes", polls.size());
        sizes.put("waiting for a proof", judge.waiting().size());
        sizes.put("waiting jobs", lanes.waiting());
        sizes.put("running jobs", lanes.underWay());
        return sizes;
    }

    private Optional<String> unready() {
        return stopped
                ? Optional.of("stopped")
                : roster.isComplete() ? Optional.empty() : Optional.of("nodes and leases are not listed yet");
    }

    private long now() {
        return loop.clock().nanoTime() - origin;
    }

    private void wake() {
        if (!stopped && roster.isComplete()) {
            wakeAt = DeadlineWheel.NEVER;
            wheel.poll(now(), judge::overdue);
            warning.ifPresent(early -> early.poll(now()));
            sleep();
        }
    }

    /** Sees to it that the loop wakes when the next deadline may have passed. */
    private void sleep() {
        // On the way of each renewal, which is to cost no object.
        long early = warning.isPresent() ? warning.get().nextWake() : DeadlineWheel.NEVER;
        long next = Math.min(wheel.nextWake(), early);
        if (stopped || !roster.isComplete() || pass.isPresent() || next >= wakeAt) {
            return;
        }
        if (wakeTimer != null) {
            wakeTimer.cancel();
        }
        wakeAt = next;
        wakeTimer = loop.schedule(Duration.ofNanos(next - now()), this::wake);
    }

    /** Looks at all that waits for a proof. */
    private void look() {
        judge.look();
        warning.ifPresent(EarlyWarning::look);
        sleep();
    }

    private void recheck(NodeHealth health) {
        tainter.recheck(health);
    }

    private void wrote(NodeHealth health, Node node) {
        roster.saw(health, node, Heartbeats.Source.LATE);
    }

    private void forgive() {
        heartbeats.forgive(now());
        pass.ifPresent(MonitorPass::restartGraces);
    }

    /** Sees now and then to what has no deadline. */
    private void tend() {
        if (!stopped) {
            lags.tend(heartbeats.nodes(), now());
            loop.schedule(TEND, this::tend);
        }
    }

    private final class ToWorkload implements NodeFollower {
        @Override
        public void seen(NodeHealth health, Node node) {
            workload.nodeSeen(node);
        }

        @Override
        public void gone(NodeHealth health) {
            workload.nodeGone(health.name, health.uid);
            if (health.hasLease) {
                workload.leaseSeen(health.name);
            }
        }
    }

    /** What the reference's pass leaves to zones and pods. */
    private final class AfterPass implements PassFollower {
        /** The zones take taints off at a start themselves. */
        @Override
        public void stripNoExecute(Node node) {}

        @Override
        public void judged(Node node, String observedReady, String currentReady) {
            heartbeats.find(node.name()).ifPresent(health -> zones.judged(health, node, observedReady, currentReady));
        }

        @Override
        public void passEnded() {
            zones.passEnded();
        }

        @Override
        public CompletionStage<Boolean> markPods(String name) {
            heartbeats.find(name).ifPresent(health -> workload.nodeWentSilent(name, health.uid));
            return CompletableFuture.completedFuture(true);
        }
    }

    private final class FromRoster implements Roster.Listener {
        @Override
        public void leasesKnown() {
            // Only now, so that a node's first sight is the start of its grace and nothing is left to wait for.
            nodes.start();
        }

        @Override
        public void nodesKnown() {
            pass.ifPresent(MonitorPass::start);
            if (guard.isOn()) {
                canary.begin();
            }
            tend();
        }

        @Override
        public void changed() {
            sleep();
        }
    }

    private final class Bench implements Judge.Court {
        @Override
        public boolean isProven(long nodeTime) {
            if (guard.proves(nodeTime)) {
                return true;
            }
            canary.demand(guard.whenNodeTime(nodeTime));
            return guard.proves(nodeTime);
        }

        @Override
        public void read(NodeHealth health, Node node) {
            roster.saw(health, node, Heartbeats.Source.LIVE);
        }

        @Override
        public void wrote(NodeHealth health, Node node) {
            Controller.this.wrote(health, node);
        }

        @Override
        public void rearm(NodeHealth health) {
            heartbeats.rearm(health);
            sleep();
        }

        @Override
        public void took(Hop hop, long nanos) {
            metrics.lag(hop, nanos / 1e9);
        }

        @Override
        public void judged(String verdict) {
            metrics.verdict(verdict);
        }

        @Override
        public void silenced(NodeHealth health, boolean wasReady, long late, JsonObject facts) {
            metrics.detected(late / 1e9);
            warning.ifPresent(early -> early.settled(health));
            explanations.silenced(health, wasReady, facts);
            if (wasReady) {
                workload.nodeWentSilent(health.name, health.uid);
                events.notReady(health.name, health.uid);
            }
        }

        @Override
        public void spared(NodeHealth health, JsonObject facts) {
            explanations.spared(health, facts);
        }
    }

    private final class FromCanary implements Canary.Listener {
        private final RandomGenerator random;

        private FromCanary(RandomGenerator random) {
            this.random = random;
        }

        @Override
        public void proven() {
            look();
        }

        @Override
        public void changed(ObserverGuard.Change change) {
            canary.condition(report.changed(change, now()));
            report.blindFor(guard.takeBlindTime());
            if (change instanceof ObserverGuard.Change.Sees) {
                reopenAfter = REOPEN_AFTER;
            }
        }

        @Override
        public Optional<String> anyLease() {
            return heartbeats.anyLease(random);
        }

        @Override
        public long versionSeen(String lease) {
            return heartbeats.leaseVersion(lease);
        }

        @Override
        public void took(Hop hop, long nanos) {
            metrics.lag(hop, nanos / 1e9);
        }

        @Override
        public void ticked() {
            look();
            report.ticked(guard, now());
            polls.ticked();
            if (guard.isBlind(now()) && guard.hop() == ObserverGuard.Hop.WATCH) {
                reopen();
            }
        }
    }

    /** Opens watches that tell nothing of what is written; less and less often, as one that is only late needs its time. */
    private void reopen() {
        if (now() - reopenedAt >= reopenAfter.toNanos()) {
            reopenedAt = now();
            reopenAfter = Collections.min(List.of(reopenAfter.multipliedBy(2), REOPEN_SELDOM));
            leases.reopen();
            nodes.reopen();
        }
    }

    private final class Signs implements Heartbeats.Listener {
        @Override
        public void heard(NodeHealth health, long silence, boolean returned, long now) {
            if (warning.isPresent()) {
                warning.get().heard(health);
            }
            if (returned) {
                explanations.returned(health, silence);
            }
        }

        @Override
        public void renewed(NodeHealth health, long renewMicros, long gap, long now) {
            lags.renewed(health, renewMicros, gap, now);
        }
    }
}
