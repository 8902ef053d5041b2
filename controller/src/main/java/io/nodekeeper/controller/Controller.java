package io.nodekeeper.controller;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.canary.Observer;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import io.nodekeeper.controller.duplicates.Duplicates;
import io.nodekeeper.controller.explain.Explanations;
import io.nodekeeper.controller.explain.NodeEvents;
import io.nodekeeper.controller.explain.ObserverReport;
import io.nodekeeper.controller.explain.ReadyChanges;
import io.nodekeeper.controller.flaps.FlapFollower;
import io.nodekeeper.controller.flaps.Flaps;
import io.nodekeeper.controller.flaps.NoDamping;
import io.nodekeeper.controller.guard.OwnSight;
import io.nodekeeper.controller.heartbeats.EarlyWarning;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeChange;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.heartbeats.NodeInformer;
import io.nodekeeper.controller.heartbeats.Sign;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.lags.HeartbeatLags;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.PriorityWorkQueueMetrics;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.pods.Workload;
import io.nodekeeper.controller.reference.MonitorPass;
import io.nodekeeper.controller.reference.PassEffects;
import io.nodekeeper.controller.reference.PassZones;
import io.nodekeeper.controller.reference.ReferenceRules;
import io.nodekeeper.controller.status.FleetStatus;
import io.nodekeeper.controller.taints.Damping;
import io.nodekeeper.controller.taints.Labels;
import io.nodekeeper.controller.taints.Tainter;
import io.nodekeeper.controller.verdicts.JudgementRunner;
import io.nodekeeper.controller.zones.FairZones;
import io.nodekeeper.controller.zones.Zones;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The node lifecycle controller: watches nodes and their leases, sets the conditions of a node to Unknown when its
 * grace period ends without a heartbeat, and keeps its taints equal to its conditions. Each node has its own deadline,
 * so that no pass over all nodes is needed. Confined to its loop, but {@link #start} and {@link #stop} may be called
 * from anywhere.
 */
public final class Controller {
    private static final Logger log = LoggerFactory.getLogger(Controller.class);
    /** How often clocks are compared and windows are started: about once per Prometheus scrape. */
    private static final Duration TEND = Duration.ofSeconds(30);

    private final ControllerConfig config;
    private final Loop loop;
    private final long origin;
    private final NodeEvents events;
    private final DeadlineWheel<NodeHealth> wheel = new DeadlineWheel<>();
    private final Heartbeats heartbeats;
    private final PriorityWorkQueue workQueue;
    private final ObserverGuard guard;
    private final Observer observer;
    private final Explanations explanations;
    private final ReadyChanges readyChanges;
    private final JudgementRunner verdicts;
    private final Optional<EarlyWarning> warning;
    private final HeartbeatLags lags;
    private final Zones zones;
    private final Tainter tainter;
    private final Labels labels;
    private final Workload workload;
    private final NodeChangeDispatcher dispatcher;
    private final NodeInformer informer;
    private final Optional<Flaps> flaps;
    private final Duplicates duplicates;
    /**
     * Finds silent nodes instead of {@link #wheel} and {@link #verdicts} if the gate WatchDrivenDeadlines is disabled.
     */
    private final Optional<MonitorPass> pass;

    private final Reflector leases;
    private final Reflector nodes;

    private final ControllerMetrics metrics;
    private boolean stopped;
    private Loop.@Nullable Timer wakeTimer;
    private long wakeAt = DeadlineWheel.NEVER;

    /**
     * Creates a controller that has not started.
     *
     * @throws IllegalArgumentException naming all faults of {@code config}
     */
    public Controller(ControllerConfig config, ControllerPorts ports) {
        if (!config.faults().isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", config.faults()));
        }
        this.config = config;
        this.workQueue = new PriorityWorkQueue(new PriorityWorkQueueMetrics(ports.metrics()));
        KubeClient client = workQueue.measured(ports.client().withTimeout(ControllerConfig.CALL_TIMEOUT));
        RandomGenerator random = ports.random();
        this.loop = ports.loop();
        this.origin = loop.clock().nanoTime();
        this.events = new NodeEvents(ports.recorders().apply("node-controller"));
        // The feature gates choose here, once: the parts get strategies and named switches.
        FeatureGates gates = config.gates();
        boolean watchDriven = gates.has(ControllerFeature.WATCH_DRIVEN_DEADLINES);
        ReferenceRules reference = ReferenceRules.of(gates);
        History history = gates.has(ControllerFeature.EXPLAIN_VERDICTS) ? ports.history() : History.NONE;
        // The monitor pass only reads leases live: it has no deadlines for which sight could be proved.
        this.guard = watchDriven && gates.has(ControllerFeature.OBSERVER_GUARD)
                ? ObserverGuard.watching(config.canaryPeriod(), config.canaryTolerance())
                : ObserverGuard.off();
        this.explanations = new Explanations(history, loop.clock());
        this.readyChanges = new ReadyChanges(history, loop);
        this.metrics = ports.metrics();
        this.lags = new HeartbeatLags(config, loop.clock(), guard, metrics, now());
        this.heartbeats = new Heartbeats(config, guard, wheel);
        this.informer = new NodeInformer(loop.clock(), this::now, heartbeats, this::isCanary, new Changes());
        // Canaries are not measured: nothing queues while they are the only calls, and the limit would learn from them
        // alone.
        this.observer = new Observer(
                ports.client(),
                config,
                guard,
                "nodekeeper-" + Long.toHexString(random.nextLong()),
                heartbeats,
                informer,
                new ObserverReport(explanations, events, metrics),
                metrics,
                random,
                this::now,
                new Observer.Effects(this::checkWaiting, this::reopen));
        this.zones = gates.has(ControllerFeature.FAIR_DISRUPTION)
                ? new FairZones(
                        config,
                        gates.has(ControllerFeature.KEEP_TAINTS),
                        gates.has(ControllerFeature.IMMEDIATE_NO_EXECUTE) ? Duration.ZERO : config.nodeMonitorPeriod(),
                        loop,
                        heartbeats::nodes,
                        this::recheck,
                        metrics,
                        history)
                : new PassZones(config, reference, loop, random, this::recheck, this::forgive, metrics);
        this.warning = watchDriven && gates.has(ControllerFeature.EARLY_WARNING)
                ? Optional.of(
                        new EarlyWarning(config, heartbeats, guard, observer, this::suspected, metrics, this::now))
                : Optional.empty();
        this.flaps = gates.has(ControllerFeature.FLAP_DAMPING)
                ? Optional.of(new Flaps(
                        config.flaps(),
                        client,
                        workQueue,
                        heartbeats,
                        explanations,
                        events,
                        metrics,
                        this::recheck,
                        this::now))
                : Optional.empty();
        this.duplicates = new Duplicates(explanations, events, metrics, this::now);
        this.tainter = new Tainter(
                client,
                random,
                heartbeats,
                workQueue,
                gates.has(ControllerFeature.SINGLE_TAINT_PATCH),
                zones,
                flaps.<Damping>map(damping -> damping).orElse(Damping.NONE),
                history,
                this::wrote);
        this.workload = new Workload(
                config.workload(), ports.client(), workQueue, ports.recorders(), random, ports.metrics(), history);
        this.labels = new Labels(client, workQueue);
        this.dispatcher = new NodeChangeDispatcher(
                lags,
                warning,
                readyChanges,
                flaps.<FlapFollower>map(damping -> damping)
                        .orElseGet(() -> new NoDamping(client, workQueue, heartbeats, explanations, events, metrics)),
                duplicates,
                zones,
                tainter,
                labels,
                workload,
                explanations,
                events,
                metrics,
                watchDriven);
        this.verdicts = new JudgementRunner(
                client,
                heartbeats,
                guard,
                workQueue,
                new JudgementRunner.Ports(observer, informer, this::rearm, dispatcher::judged),
                this::now);
        Reflector.RawHandler leaseHandler = informer.leases();
        Reflector.Handler nodeHandler = informer.nodes();
        this.pass = watchDriven
                ? Optional.empty()
                : Optional.of(new MonitorPass(
                        config,
                        reference,
                        new MonitorPass.Ports(loop, random, metrics),
                        history,
                        client,
                        events,
                        new PassEffects(heartbeats, zones, workload),
                        nodeHandler,
                        leaseHandler));
        // Lists of all nodes may take longer than single calls: they keep the caller's deadline.
        this.leases = new Reflector(
                ports.client(),
                Selection.inNamespace(ResourceType.LEASES, Lease.NODE_NAMESPACE),
                random,
                pass.map(MonitorPass::leases).orElse(leaseHandler));
        if (guard.isOn()) {
            // Their canary in a list of the reflector would look like one that the watch has sent.
            leases.keepRevisionInSilence();
        }
        this.nodes = new Reflector(
                ports.client(),
                Selection.all(ResourceType.NODES),
                random,
                pass.map(MonitorPass::nodes).orElse(nodeHandler));
    }

    /** Starts to watch leases, nodes and pods. Verdicts begin when leases and nodes are listed. */
    public void start() {
        config.warnings().forEach(warning -> log.warn("{}", warning));
        leases.start();
        workload.start();
        loop.execute(() -> {
            if (!stopped) {
                observer.start();
            }
        });
    }

    /** Stops all watches and writes; does not wait for running calls. */
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            workQueue.close();
            readyChanges.stop();
            zones.stop();
            workload.stop();
            pass.ifPresent(MonitorPass::stop);
            leases.stop();
            nodes.stop();
            observer.stop();
            if (wakeTimer != null) {
                wakeTimer.cancel();
            }
        });
    }

    /**
     * This process wrote a lease that belongs to no node, such as its leader election lock. That proves sight where the
     * canary is refused. Thread-safe.
     *
     * @param sentAt when the write was sent, nanoseconds by the loop's monotonic clock
     * @param acknowledgedAt when its success was known, by the same clock
     * @param period the usual time from one such write to the next
     */
    public void leaseWritten(long sentAt, long acknowledgedAt, Duration period) {
        loop.execute(() -> observer.leaseWritten(sentAt - origin, acknowledgedAt - origin, period.toNanos()));
    }

    /** The state of this controller, for its HTTP pages. */
    public ControllerView view() {
        return new LoopView(
                loop,
                heartbeats,
                lags,
                flaps,
                this::now,
                () -> guard.json(now()),
                () -> guard.blindness(now()),
                this::unready,
                new FleetStatus(
                        config, loop.clock(), this::now, heartbeats, guard, lags, zones, flaps, duplicates, workload));
    }

    /** What this controller sees of the cluster, for guard mode. On the loop. */
    public OwnSight ownSight() {
        Optional<String> reason = sightless();
        if (reason.isPresent()) {
            return new OwnSight.Unknown(reason.get());
        }
        int known = heartbeats.nodes().size();
        List<OwnSight.Past> past = guard.spans().stream()
                .map(span -> new OwnSight.Past(
                        Duration.ofNanos(now() - span.from()), Duration.ofNanos(now() - span.until())))
                .toList();
        return guard.isBlind(now())
                ? new OwnSight.Blind(known, Duration.ofNanos(guard.canaryAge(now())), guard.hop(), past)
                : new OwnSight.Sees(known, past);
    }

    /** The number of entries of each queue and map, by name. On the loop. */
    Map<String, Integer> sizes() {
        Map<String, Integer> sizes = new TreeMap<>(workload.sizes());
        sizes.putAll(heartbeats.sizes());
        sizes.putAll(zones.sizes());
        sizes.put("machines", duplicates.size());
        sizes.put("nodes with Ready changes", readyChanges.size());
        sizes.put("taint writes", tainter.size());
        sizes.put("label writes", labels.size());
        sizes.putAll(observer.sizes());
        sizes.put("waiting for a proof", verdicts.waiting().size());
        sizes.put("waiting jobs", workQueue.waiting());
        sizes.put("running jobs", workQueue.underWay());
        return sizes;
    }

    /** What is not ready yet. A read-only controller, such as a guard, does nothing about pods, so it is ready without them. */
    private Optional<String> unready() {
        Optional<String> pods =
                config.readOnly() || workload.isListed() ? Optional.empty() : Optional.of("pods are not listed yet");
        return sightless().or(() -> pods);
    }

    private Optional<String> sightless() {
        if (stopped) {
            return Optional.of("stopped");
        }
        return informer.isComplete() ? Optional.empty() : Optional.of("nodes and leases are not listed yet");
    }

    private long now() {
        return loop.clock().nanoTime() - origin;
    }

    private void wake() {
        if (!stopped && informer.isComplete()) {
            wakeAt = DeadlineWheel.NEVER;
            wheel.poll(now(), verdicts::overdue);
            warning.ifPresent(early -> early.poll(now()));
            sleep();
        }
    }

    /** Sets the timer for the next deadline. */
    private void sleep() {
        // Runs for each renewal, so it must create no object unless the deadline moves forward.
        long early = warning.isPresent() ? warning.get().nextWake() : DeadlineWheel.NEVER;
        long next = Math.min(wheel.nextWake(), early);
        if (stopped || !informer.isComplete() || pass.isPresent() || next >= wakeAt) {
            return;
        }
        if (wakeTimer != null) {
            wakeTimer.cancel();
        }
        wakeAt = next;
        wakeTimer = loop.schedule(Duration.ofNanos(next - now()), this::wake);
    }

    /** Checks all nodes that wait for a proof. */
    private void checkWaiting() {
        verdicts.checkWaiting();
        warning.ifPresent(EarlyWarning::checkWaiting);
        sleep();
    }

    private void recheck(NodeHealth health) {
        tainter.recheck(health);
    }

    private void wrote(NodeHealth health, Node node) {
        informer.saw(health, node, Heartbeats.Source.LATE);
    }

    private void suspected(NodeHealth health, String text) {
        explanations.suspected(health, text);
        events.suspect(health.name(), health.uid(), "Node " + health.name() + " had " + text);
    }

    private void forgive() {
        heartbeats.forgive(now());
        pass.ifPresent(MonitorPass::restartGraces);
    }

    /** Updates the measurements that need a period. */
    private void tend() {
        if (!stopped) {
            loop.schedule(TEND, this::tend);
            duplicates.tend();
            lags.tend(heartbeats.nodes().stream().map(NodeHealth::lag).toList(), now());
        }
    }

    /** Passes changes on, and starts the parts that wait for the first lists. */
    private final class Changes implements NodeInformer.Handler {
        @Override
        public void changed(NodeChange change) {
            dispatcher.dispatch(change);
            if (change instanceof NodeChange.FirstLeases) {
                // Only now, so that a node's lease is known when the node is added.
                nodes.start();
            } else if (change instanceof NodeChange.FirstNodes) {
                pass.ifPresent(MonitorPass::start);
                observer.begin();
                tend();
            }
        }

        @Override
        public void heard(NodeHealth health, Sign sign, long now) {
            dispatcher.heard(health, sign, now);
        }

        @Override
        public void settled() {
            observer.settle();
            sleep();
        }
    }

    private void rearm(NodeHealth health) {
        heartbeats.rearm(health);
        sleep();
    }

    private boolean isCanary(Lease lease) {
        return observer.isCanary(lease);
    }

    private void reopen() {
        leases.reopen();
        nodes.reopen();
        workload.reopen();
    }
}
