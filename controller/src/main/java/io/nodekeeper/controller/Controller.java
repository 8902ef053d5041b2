package io.nodekeeper.controller;

import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.controller.pods.Workload;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

    private final ControllerConfig config;
    private final Loop loop;
    private final long origin;
    private final NodeEvents events;
    private final DeadlineWheel<NodeHealth> wheel = new DeadlineWheel<>();
    private final Heartbeats heartbeats;
    private final Lanes lanes = new Lanes();
    private final ObserverGuard guard;
    private final Canary canary;
    private final Proofs proofs;
    private final List<NodeHealth> parked = new ArrayList<>();
    private final Explanations explanations;
    private final Judge judge;
    private final Zones zones;
    private final Tainter tainter;
    private final Workload workload;
    /** Judges instead of wheel and judge, with the gate WatchDrivenDeadlines closed. */
    private final Optional<MonitorPass> pass;
    /** Zones before taints, as they say what may be done about those. */
    private final List<NodeFollower> followers;

    private final Reflector leases;
    private final Reflector nodes;

    private boolean leasesListed;
    private boolean nodesListed;
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
        KubeClient client = lanes.measured(ports.client().withTimeout(ControllerConfig.CALL_TIMEOUT));
        RandomGenerator random = ports.random();
        this.loop = ports.loop();
        this.origin = loop.clock().nanoTime();
        this.events = new NodeEvents(ports.recorders().apply("node-controller"));
        this.guard = config.gates().has(FeatureGate.OBSERVER_GUARD)
                ? ObserverGuard.watching(config.canaryPeriod(), config.canaryTolerance(), now())
                : ObserverGuard.off();
        this.proofs = new Proofs(guard);
        this.explanations = new Explanations(config.gates(), ports.history(), loop.clock());
        this.heartbeats = new Heartbeats(config, guard, wheel, explanations);
        this.canary = new Canary(
                client,
                guard,
                config.canaryPeriod(),
                "nodekeeper-" + Long.toHexString(random.nextLong()),
                !config.readOnly(),
                this::now,
                new FromCanary(random));
        this.zones = Zones.of(config, ports, heartbeats::nodes, this::recheck, () -> heartbeats.forgive(now()));
        this.tainter = new Tainter(
                client,
                random,
                heartbeats,
                lanes,
                config.gates(),
                zones,
                Damping.NONE,
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
        this.followers = List.of(zones, tainter, new Labels(client, lanes), new ToWorkload());
        this.judge = new Judge(client, heartbeats, guard, lanes, new Bench(), this::now);
        Leases leaseHandler = new Leases();
        Nodes nodeHandler = new Nodes();
        this.pass = config.gates().has(FeatureGate.WATCH_DRIVEN_DEADLINES)
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
            if (wakeTimer != null) {
                wakeTimer.cancel();
            }
        });
    }

    /** What this controller can be asked while it works. */
    public ControllerView view() {
        return new LoopView(loop, heartbeats, this::now, () -> guard.json(now()), this::unready);
    }

    private Optional<String> unready() {
        return stopped
                ? Optional.of("stopped")
                : nodesListed ? Optional.empty() : Optional.of("nodes and leases are not listed yet");
    }

    private long now() {
        return loop.clock().nanoTime() - origin;
    }

    private void wake() {
        if (!stopped && nodesListed) {
            wakeAt = DeadlineWheel.NEVER;
            wheel.poll(now(), judge::overdue);
            sleep();
        }
    }

    /** Sees to it that the loop wakes when the next deadline may have passed. */
    private void sleep() {
        long next = wheel.nextWake();
        if (stopped || !nodesListed || pass.isPresent() || next >= wakeAt) {
            return;
        }
        if (wakeTimer != null) {
            wakeTimer.cancel();
        }
        wakeAt = next;
        wakeTimer = loop.schedule(Duration.ofNanos(next - now()), this::wake);
    }

    private void saw(NodeHealth health, Node node, Heartbeats.Source source) {
        if (heartbeats.saw(health, node, source, now())) {
            followers.forEach(follower -> follower.seen(health, node));
        }
    }

    private void recheck(NodeHealth health) {
        tainter.recheck(health);
    }

    private void wrote(NodeHealth health, Node node) {
        saw(health, node, Heartbeats.Source.LATE);
    }

    private void add(Node node, Duration silentFor) {
        NodeHealth health = heartbeats.add(node, now(), silentFor);
        if (pass.isEmpty()) {
            log.info("Node {} is followed (uid {})", health.name, health.uid);
            explanations.registered(health);
            events.registered(health.name, health.uid);
        }
        followers.forEach(follower -> follower.seen(health, node));
    }

    private void remove(NodeHealth health) {
        heartbeats.remove(health);
        followers.forEach(follower -> follower.gone(health));
        if (pass.isEmpty()) {
            log.info("Node {} is gone (uid {})", health.name, health.uid);
            explanations.removed(health);
            events.removing(health.name, health.uid);
        }
    }

    private void orphaned(String lease) {
        if (nodesListed && heartbeats.find(lease).isEmpty()) {
            workload.leaseSeen(lease);
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

    private final class Bench implements Judge.Court {
        @Override
        public CompletionStage<Boolean> proof(long nodeTime) {
            if (guard.isOn()) {
                canary.demand(guard.whenNodeTime(nodeTime));
            }
            return proofs.of(nodeTime, now());
        }

        @Override
        public void park(NodeHealth health) {
            parked.add(health);
        }

        @Override
        public void read(NodeHealth health, Node node) {
            saw(health, node, Heartbeats.Source.LIVE);
        }

        @Override
        public void wrote(NodeHealth health, Node node) {
            Controller.this.wrote(health, node);
        }

        @Override
        public void rearm(NodeHealth health) {
            heartbeats.arm(health);
            sleep();
        }

        @Override
        public void silenced(NodeHealth health, boolean wasReady, JsonObject facts) {
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
            proofs.proven();
        }

        @Override
        public void changed(ObserverGuard.Change change) {
            String text = explanations.sight(change, now());
            canary.condition(explanations.condition(change, text));
            switch (change) {
                case ObserverGuard.Change.Blind blind -> {
                    log.warn("{}", text);
                    events.blind(text);
                    proofs.blind();
                }
                case ObserverGuard.Change.Renamed renamed -> log.warn("{}", text);
                case ObserverGuard.Change.Sees sees -> {
                    log.warn("{}", text);
                    events.sees(text);
                    List<NodeHealth> waiting = List.copyOf(parked);
                    parked.clear();
                    waiting.stream().filter(heartbeats::isCurrent).forEach(heartbeats::arm);
                    sleep();
                }
            }
        }

        @Override
        public Optional<String> anyLease() {
            return heartbeats.anyLease(random);
        }

        @Override
        public String versionSeen(String lease) {
            return heartbeats.leaseVersion(lease);
        }
    }

    private final class Leases implements Reflector.Handler {
        @Override
        public void onReplace(List<JsonObject> objects) {
            heartbeats.sawAllLeases(
                    objects.stream()
                            .map(Lease::new)
                            .filter(lease -> !canary.saw(lease))
                            .toList(),
                    now());
            canary.sawVersions();
            if (!leasesListed) {
                leasesListed = true;
                // Only now, so that a node's first sight is the start of its grace and nothing is left to wait for.
                nodes.start();
            }
            sleep();
        }

        @Override
        public void onChange(JsonObject object) {
            Lease lease = new Lease(object);
            if (!canary.saw(lease)) {
                heartbeats.saw(lease, Heartbeats.Source.LATE, now());
                orphaned(lease.name());
                canary.sawVersions();
                sleep();
            }
        }

        @Override
        public void onDelete(JsonObject object) {
            String name = new Lease(object).name();
            heartbeats.leaseGone(name);
            workload.leaseGone(name);
        }
    }

    private final class Nodes implements Reflector.Handler {
        @Override
        public void onReplace(List<JsonObject> objects) {
            List<Node> listed = objects.stream().map(Node::new).toList();
            zones.listing();
            heartbeats.missingFrom(listed).forEach(Controller.this::remove);
            for (Node node : listed) {
                heartbeats
                        .find(node.name())
                        .ifPresentOrElse(
                                health -> saw(health, node, Heartbeats.Source.LIVE), () -> add(node, age(node)));
            }
            zones.listed();
            if (!nodesListed) {
                nodesListed = true;
                workload.nodesListed();
                if (pass.isPresent()) {
                    pass.get().start();
                } else if (guard.isOn()) {
                    canary.start();
                }
                log.info("following {} nodes", listed.size());
            }
            sleep();
        }

        /** Only of what was there before this controller can be said that it has been silent for long. */
        private Duration age(Node node) {
            return nodesListed
                    ? Duration.ZERO
                    : Heartbeats.silence(node, loop.clock().wallTime());
        }

        @Override
        public void onChange(JsonObject object) {
            Node node = new Node(object);
            NodeHealth health = heartbeats.find(node.name()).orElse(null);
            if (health != null && !health.uid.equals(node.uid())) {
                if (!Heartbeats.isNewer(node.resourceVersion(), health.version)) {
                    return;
                }
                remove(health);
                health = null;
            }
            if (health == null) {
                add(node, Duration.ZERO);
            } else {
                saw(health, node, Heartbeats.Source.LATE);
            }
            sleep();
        }

        @Override
        public void onDelete(JsonObject object) {
            Node node = new Node(object);
            heartbeats
                    .find(node.name())
                    .filter(health -> health.uid.equals(node.uid()))
                    .ifPresent(Controller.this::remove);
        }
    }
}
