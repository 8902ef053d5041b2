package io.nodekeeper.agent;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.agent.eviction.EvictionSignal;
import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.eviction.PressureListener;
import io.nodekeeper.agent.eviction.PressureMonitor;
import io.nodekeeper.agent.eviction.PressureReport;
import io.nodekeeper.agent.eviction.Shortage;
import io.nodekeeper.agent.eviction.Threshold;
import io.nodekeeper.agent.eviction.Thresholds;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.agent.facts.NodeDevices;
import io.nodekeeper.agent.facts.NodeStorage;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.heartbeat.LeaseRenewer;
import io.nodekeeper.agent.heartbeat.StatusReporter;
import io.nodekeeper.agent.host.Host;
import io.nodekeeper.agent.host.HostSnapshots;
import io.nodekeeper.agent.problems.ProblemView;
import io.nodekeeper.agent.registration.InitialNode;
import io.nodekeeper.agent.registration.Registration;
import io.nodekeeper.agent.runtime.NoRuntime;
import io.nodekeeper.agent.runtime.RuntimeView;
import io.nodekeeper.agent.shutdown.ShutdownManager;
import io.nodekeeper.agent.status.DuplicateNode;
import io.nodekeeper.agent.status.NodeEvent;
import io.nodekeeper.agent.status.StatusInputs;
import io.nodekeeper.agent.status.StatusResult;
import io.nodekeeper.agent.status.StatusSetters;
import io.nodekeeper.agent.status.VolumesInUse;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers one node, reports its status and renews its lease. It has no thread of its own; thousands can share a
 * loop. {@link #start} and {@link #stop} may be called from any thread.
 */
public final class Agent {
    private static final Logger log = LoggerFactory.getLogger(Agent.class);
    /**
     * The longest wait for facts before registration: 1 s, so that the first status arrives within 2 s of the start.
     */
    private static final Duration FIRST_FACTS = Duration.ofSeconds(1);
    /**
     * An existing lease is renewed within this time after the start, even if registration does not succeed; 2 s is
     * a fifth of the default renewal interval (10 s).
     */
    private static final Duration LEASE_AT_LATEST = Duration.ofSeconds(2);
    /**
     * The period for reading facts that are missing at the start: 1 s, so that Ready does not wait for the next
     * pressure round.
     */
    private static final Duration MISSING_FACTS = Duration.ofSeconds(1);
    /** Kubernetes' period for evaluating eviction thresholds. */
    private static final Duration PRESSURE_PERIOD = Duration.ofSeconds(10);
    /** Kubernetes' jitter on the status period. */
    private static final double STATUS_JITTER = 0.04;

    private final AgentConfig config;
    private final AgentPorts ports;
    private final Loop loop;
    private final HostSnapshots snapshots;
    private final PressureMonitor pressureRule;
    private final Registration registration;
    private final StatusReporter reporter;
    private final LeaseRenewer lease;
    private final RuntimeView runtime;
    private final ProblemView problems;
    private final StartListener listener;
    private final PressureListener pressureListener;
    private final BooleanSupplier shuttingDown;
    private final NodeDevices devices;
    private final LoopMonitor.Beat statusBeat;
    private final LoopMonitor.Beat pressureBeat;
    private final CompletableFuture<Void> registered = new CompletableFuture<>();
    private final List<Periodic> loops = new ArrayList<>();
    private Set<Pressure> pressures = EnumSet.noneOf(Pressure.class);
    private ConditionReport pressureUnknown = PressureReport.of(List.of(), HostFacts.unknown(), false);
    private Loop.Timer pressureEnd = () -> {};
    /** Empty until the machine's boot id is known. */
    private Optional<DuplicateNode> duplicate = Optional.empty();

    private NodeStorage storage = NodeStorage.NONE;
    private boolean reporting;
    private boolean answering;
    /** Whether there was news during the early report in progress, whose status may not show it. */
    private boolean again;

    private boolean stopped;

    /**
     * An agent for {@code host} and its runtime, not started yet.
     *
     * @param problems the conditions of the node itself
     * @param watch monitors the agent's loops
     * @param pressureListener gets what each measurement of the node shows
     * @param shuttingDown whether the machine is shut down; called on the loop
     * @param devices the devices of plugins
     */
    Agent(
            AgentConfig config,
            AgentPorts ports,
            Host host,
            RuntimeView runtime,
            ProblemView problems,
            LoopMonitor watch,
            StartListener listener,
            PressureListener pressureListener,
            BooleanSupplier shuttingDown,
            NodeDevices devices) {
        this.devices = devices;
        this.shuttingDown = shuttingDown;
        this.config = config;
        this.pressureListener = pressureListener;
        this.ports = ports;
        this.loop = ports.loop();
        this.runtime = runtime;
        this.problems = problems;
        this.listener = listener;
        statusBeat = watch.loop(
                "syncloop", Collections.max(List.of(config.syncFrequency(), config.nodeStatusUpdateFrequency())));
        pressureBeat = watch.loop("pressure", PRESSURE_PERIOD);
        LoopMonitor.Beat leaseBeat = watch.loop("lease", config.leaseInterval());
        List<Threshold> thresholds =
                Thresholds.applicable(config.thresholds(), runtime.facts().present());
        boolean podMemory =
                thresholds.stream().anyMatch(threshold -> threshold.signal().needsPodCgroup());
        this.snapshots = new HostSnapshots(
                config.nodeName(), host, loop, new HostSnapshots.Needs(podMemory, runtime::imageMount));
        this.pressureRule = new PressureMonitor(thresholds, config.evictionPressureTransitionPeriod());
        this.registration =
                new Registration(config, ports.registration(), this::initial, this::created, devices::hasCheckpoint);
        this.reporter = new StatusReporter(
                config,
                ports.heartbeats(),
                ports.nodes(),
                ports.random(),
                ports.onRepeatedFailure(),
                this::status,
                this::tell);
        reporter.onAcknowledged(this::acknowledged);
        this.lease = new LeaseRenewer(
                config, ports.heartbeats(), ports.random(), ports.onRepeatedFailure(), leaseBeat::beat);
    }

    /** An agent of a node that has nothing but {@code host}: no container runtime, no devices; not started yet. */
    public static Agent withoutRuntime(AgentConfig config, AgentPorts ports, Host host) {
        return new Agent(
                config,
                ports,
                host,
                new NoRuntime(),
                ProblemView.NONE,
                new LoopMonitor(ports.loop().clock()),
                StartListener.NONE,
                PressureListener.NONE,
                () -> false,
                NodeDevices.NONE);
    }

    /** The status shows what {@code volumes} says; to be called before {@link #start}. */
    void storage(NodeStorage volumes) {
        storage = volumes;
    }

    /** Starts to register and to send heartbeats. */
    public void start() {
        loop.execute(() -> {
            if (!runtime.facts().present()) {
                log.info("Node {}: no container runtime is watched; Ready does not depend on one", config.nodeName());
            }
            tell(new NodeEvent(EventRecorder.NORMAL, "Starting", "Starting kubelet."));
            CompletableFuture<Void> facts = CompletableFuture.allOf(
                    snapshots.refresh().thenRunAsync(this::judgePressures, loop), runtime.known());
            CompletableFuture<Object> known = CompletableFuture.anyOf(facts, Deadlines.sleep(loop, FIRST_FACTS));
            known.thenRun(this::begin);
        });
    }

    /** Stops all loops; calls in progress complete. The Node stays in the API. */
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            pressureEnd.cancel();
            registration.stop();
            reporter.stop();
            lease.stop();
            loops.forEach(Periodic::stop);
        });
    }

    /** Completes on the loop once the Node is in the API: this agent registered it, or another did and this one reported its status. */
    public CompletableFuture<Void> registered() {
        return registered;
    }

    /** The newest facts about the host; to be called on the loop. */
    public HostFacts hostFacts() {
        return snapshots.facts();
    }

    private void begin() {
        if (stopped) {
            return;
        }
        loop.schedule(PRESSURE_PERIOD, () -> repeat("pressure", PRESSURE_PERIOD, 0, this::pressureRound));
        lookForMissingFacts();
        if (!config.registerNode()) {
            lease.start();
            startStatus();
            return;
        }
        loop.schedule(LEASE_AT_LATEST, lease::start);
        registration.run().thenAccept(outcome -> {
            if (stopped) {
                return;
            }
            registered.complete(null);
            // A lease cannot be created before the Node exists: try again now, not in the next round.
            if (!lease.start()) {
                lease.renewNow();
            }
            startStatus();
        });
    }

    private void startStatus() {
        reporting = true;
        repeat("status of " + config.nodeName(), config.nodeStatusUpdateFrequency(), STATUS_JITTER, this::statusTick);
        reporter.startFastPath();
        ports.nodes().listen(config.nodeName(), this::seen);
        runtime.onNews(this::answer);
        problems.onNews(this::answer);
    }

    /** Reports immediately if the controller has set Ready to Unknown: this agent was frozen or cut off. */
    private void seen(Node node) {
        if (observeMachine(node)) {
            answer();
        }
        boolean givenUp = node.ready()
                .filter(ready -> ready.status().equals(Condition.UNKNOWN))
                .isPresent();
        // A report in progress replaces it, and what it writes comes back here: no second one from the same Node.
        if (givenUp && !answering) {
            answer();
        }
    }

    /** The API has this Node with the status of this agent. */
    private void acknowledged(Node node) {
        registered.complete(null);
        storage.registered(node.uid());
        storage.reported(VolumesInUse.of(node));
    }

    /** Looks whether another machine reports under this node's name; whether there is news about that. */
    private boolean observeMachine(Node node) {
        if (!config.gates().has(AgentFeature.NODE_PROBLEMS)) {
            return false;
        }
        if (duplicate.isEmpty()) {
            duplicate = snapshots.facts().machine().value().map(machine -> new DuplicateNode(machine.bootId()));
        }
        duplicate.ifPresent(
                detector -> detector.observe(node, true, loop.clock().nanoTime()));
        Optional<NodeEvent> news = duplicate.flatMap(DuplicateNode::news);
        news.ifPresent(this::tell);
        return news.isPresent();
    }

    /** Reports the status before its period ends; after the early report in progress if there is one. */
    private void answer() {
        if (answering || stopped) {
            again = true;
            return;
        }
        answering = true;
        again = false;
        statusTick().whenComplete((outcome, error) -> {
            answering = false;
            if (again) {
                answer();
            }
        });
    }

    private CompletionStage<?> statusTick() {
        statusBeat.beat();
        return runtime.beforeReport().thenCompose(may -> reporter.sync()).thenCompose(outcome -> {
            if (outcome != StatusReporter.Outcome.GONE || !config.registerNode() || stopped) {
                return CompletableFuture.completedFuture(outcome);
            }
            log.warn("Node {} was deleted from the API; registering it again", config.nodeName());
            return registration.run().thenCompose(again -> {
                lease.renewNow();
                return reporter.sync();
            });
        });
    }

    private CompletionStage<?> pressureRound() {
        return snapshots
                .refresh()
                .thenRunAsync(
                        () -> {
                            judgePressures();
                            pressureListener.measured(pressureRule.shortages(), pressures);
                        },
                        loop);
    }

    /** Writes the status now. */
    void reportNow() {
        loop.execute(() -> {
            if (reporting) {
                answer();
            }
        });
    }

    /** Measures the node now; what it is then short of. */
    CompletableFuture<List<Shortage>> measureShortages() {
        return snapshots
                .refresh()
                .thenApplyAsync(
                        ready -> {
                            judgePressures();
                            return pressureRule.shortages();
                        },
                        loop);
    }

    /** Reads the facts about the host now. */
    CompletableFuture<HostFacts> measureHost() {
        return snapshots.refresh().thenApplyAsync(ready -> snapshots.facts(), loop);
    }

    /** Measures the node now, as at each period. */
    void measurePressures() {
        loop.execute(this::pressureRound);
    }

    private void judgePressures() {
        pressureBeat.beat();
        boolean hasRuntime = runtime.facts().present();
        long nanos = loop.clock().nanoTime();
        Set<Pressure> now = pressureRule.observe(EvictionSignal.levels(snapshots.facts(), hasRuntime), nanos);
        ConditionReport report = PressureReport.of(pressureRule.unmeasured(nanos), snapshots.facts(), hasRuntime);
        boolean news = !now.equals(pressures) || !report.status().equals(pressureUnknown.status());
        if (!now.equals(pressures)) {
            log.info("Node {}: pressures are now {}", config.nodeName(), now);
        }
        pressures = now;
        pressureUnknown = report;
        pressureEnd.cancel();
        // A pressure ends at its time and not with the next round.
        pressureRule
                .nextEnd()
                .ifPresent(end -> pressureEnd = loop.schedule(Duration.ofNanos(end - nanos), this::endPressure));
        if (news && reporting) {
            answer();
        }
    }

    /** Pods are taken again as soon as the condition says so. Nothing was measured, so nothing is short that was not before. */
    private void endPressure() {
        judgePressures();
        pressureListener.measured(List.of(), pressures);
    }

    /** The agent's own conditions. PressureUnknown and DuplicateNode are reported once there was something to report. */
    private List<ConditionReport> conditions() {
        List<ConditionReport> conditions = new ArrayList<>(runtime.conditions());
        conditions.addAll(problems.conditions());
        Optional<Node> stored = ports.nodes().node(config.nodeName());
        Stream.concat(Stream.of(pressureUnknown), duplicate.flatMap(DuplicateNode::condition).stream())
                .filter(report -> report.status().equals(Condition.TRUE)
                        || stored.flatMap(node -> node.condition(report.type())).isPresent())
                .forEach(conditions::add);
        return conditions;
    }

    private void lookForMissingFacts() {
        if (isFactMissing() && !stopped) {
            loop.schedule(MISSING_FACTS, () -> snapshots.refresh().thenRunAsync(this::lookedForMissingFacts, loop));
        }
    }

    private void lookedForMissingFacts() {
        if (isFactMissing()) {
            lookForMissingFacts();
        } else {
            reportNow();
        }
    }

    private boolean isFactMissing() {
        HostFacts facts = snapshots.facts();
        return facts.machine().value().isEmpty()
                || facts.rootFilesystem().value().isEmpty();
    }

    private void repeat(String name, Duration period, double jitter, Supplier<CompletionStage<?>> action) {
        if (!stopped) {
            loops.add(Periodic.start(name, loop, period, jitter, ports.random(), action));
        }
    }

    private StatusResult initial() {
        statusBeat.beat();
        listener.attempted();
        return InitialNode.build(inputs(false));
    }

    private void created(StatusResult created) {
        listener.created();
        if (created.node().isReady()) {
            listener.ready();
        }
        created.events().forEach(this::tell);
    }

    private StatusResult status(Node node, boolean knownUnschedulable) {
        statusBeat.beat();
        observeMachine(node);
        String cidr = String.join(
                ",", node.json().object("spec").array("podCIDRs").strings().toList());
        if (!cidr.isEmpty()) {
            runtime.podCidr(cidr);
        }
        return VolumesInUse.set(StatusSetters.apply(node, inputs(knownUnschedulable)), storage.volumesInUse());
    }

    private StatusInputs inputs(boolean knownUnschedulable) {
        boolean ends = shuttingDown.getAsBoolean();
        ReadyErrors errors = runtime.errors().withStorage(storage.errors());
        return new StatusInputs(
                config,
                ports.version(),
                snapshots.facts(),
                pressures,
                runtime.facts(),
                ends ? errors.withShutdown(ShutdownManager.NOT_READY) : errors,
                conditions(),
                runtime.starting() && !ends,
                loop.clock().wallTime(),
                knownUnschedulable,
                devices.capacity());
    }

    private void tell(NodeEvent event) {
        if (event.reason().equals("NodeReady")) {
            listener.ready();
        }
        event.record(ports.events(), config.nodeName());
    }
}
