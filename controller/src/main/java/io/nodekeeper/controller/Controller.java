package io.nodekeeper.controller;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
    /** The deadline of each single call; a slow answer means that nothing can be judged yet. Chosen. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(2);
    /** Monitor periods without any answer after which silence is nobody's fault. Chosen: one call may get lost. */
    private static final int BLIND_PERIODS = 2;

    private final ControllerConfig config;
    private final KubeClient client;
    private final Loop loop;
    private final RandomGenerator random;
    private final long origin;
    private final NodeEvents events;
    private final DeadlineWheel<NodeHealth> wheel = new DeadlineWheel<>();
    private final Heartbeats heartbeats;
    private final Lanes lanes = new Lanes();
    private final Sight sight;
    private final Judge judge;
    private final Tainter tainter;
    private final Reflector leases;
    private final Reflector nodes;

    private boolean leasesListed;
    private boolean nodesListed;
    private boolean stopped;
    private Loop.@Nullable Timer wakeTimer;
    private long wakeAt = DeadlineWheel.NEVER;
    private @Nullable Periodic probe;

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
        this.client = lanes.measured(ports.client().withTimeout(CALL_TIMEOUT));
        this.loop = ports.loop();
        this.random = ports.random();
        this.origin = loop.clock().nanoTime();
        this.events = new NodeEvents(ports.recorders().apply("node-controller"));
        this.heartbeats = new Heartbeats(config, wheel);
        this.sight = new Sight(config.lookPeriod().multipliedBy(BLIND_PERIODS).toNanos(), now());
        this.tainter = new Tainter(this.client, random, heartbeats, lanes, this::wrote);
        this.judge = new Judge(this.client, heartbeats, lanes, events, new FromJudge(), this::now);
        // Lists of all nodes may take longer than single calls: they keep the caller's deadline.
        this.leases = new Reflector(
                ports.client(), Selection.inNamespace(ResourceType.LEASES, Lease.NODE_NAMESPACE), random, new Leases());
        this.nodes = new Reflector(ports.client(), Selection.all(ResourceType.NODES), random, new Nodes());
    }

    /** Begins to follow leases and nodes; judges from the moment on at which both are known. */
    public void start() {
        config.warnings().forEach(warning -> log.warn("{}", warning));
        leases.start();
    }

    /** Writes nothing more and follows no more; calls under way are not waited for. */
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            lanes.close();
            leases.stop();
            nodes.stop();
            if (probe != null) {
                probe.stop();
            }
            if (wakeTimer != null) {
                wakeTimer.cancel();
            }
        });
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
        if (stopped || !nodesListed || next >= wakeAt) {
            return;
        }
        if (wakeTimer != null) {
            wakeTimer.cancel();
        }
        wakeAt = next;
        wakeTimer = loop.schedule(Duration.ofNanos(next - now()), this::wake);
    }

    private CompletableFuture<Void> look() {
        return client.list(ResourceType.LEASES, Lease.NODE_NAMESPACE, "limit=1").handle((list, error) -> {
            if (error == null || (Failures.cause(error) instanceof ApiException refused && refused.code() < 500)) {
                answered();
            } else {
                log.info("the API server does not answer, nothing can be judged: {}", Failures.text(error));
            }
            return null;
        });
    }

    private void answered() {
        long blind = sight.blindFor(now());
        if (sight.answered(now())) {
            heartbeats.forgiveUntil(now());
            log.warn("saw nothing for {}; all nodes get a fresh grace period", Heartbeats.age(blind));
        }
    }

    private void saw(NodeHealth health, Node node, Heartbeats.Source source) {
        if (heartbeats.saw(health, node, source, now())) {
            tainter.saw(health, node);
        }
    }

    private void wrote(NodeHealth health, Node node) {
        saw(health, node, Heartbeats.Source.LATE);
    }

    private void add(Node node, Duration silentFor) {
        NodeHealth health = heartbeats.add(node, now(), silentFor);
        log.info("Node {} is followed (uid {})", health.name, health.uid);
        events.registered(health.name, health.uid);
        tainter.saw(health, node);
    }

    private void remove(NodeHealth health) {
        heartbeats.remove(health);
        log.info("Node {} is gone (uid {})", health.name, health.uid);
        events.removing(health.name, health.uid);
    }

    private final class FromJudge implements Judge.Sightings {
        @Override
        public void read(NodeHealth health, Node node) {
            saw(health, node, Heartbeats.Source.LIVE);
        }

        @Override
        public void wrote(NodeHealth health, Node node) {
            Controller.this.wrote(health, node);
        }

        @Override
        public void answered() {
            Controller.this.answered();
        }

        @Override
        public void rearm(NodeHealth health) {
            heartbeats.arm(health);
            sleep();
        }
    }

    private final class Leases implements Reflector.Handler {
        @Override
        public void onReplace(List<JsonObject> objects) {
            heartbeats.sawAllLeases(objects, now());
            if (!leasesListed) {
                leasesListed = true;
                // Only now, so that a node's first sight is the start of its grace and nothing is left to wait for.
                nodes.start();
            }
            sleep();
        }

        @Override
        public void onChange(JsonObject object) {
            heartbeats.saw(new Lease(object), Heartbeats.Source.LATE, now());
            sleep();
        }

        @Override
        public void onDelete(JsonObject object) {
            heartbeats.leaseGone(new Lease(object).name());
        }
    }

    private final class Nodes implements Reflector.Handler {
        @Override
        public void onReplace(List<JsonObject> objects) {
            List<Node> listed = objects.stream().map(Node::new).toList();
            heartbeats.missingFrom(listed).forEach(Controller.this::remove);
            for (Node node : listed) {
                heartbeats
                        .find(node.name())
                        .ifPresentOrElse(
                                health -> saw(health, node, Heartbeats.Source.LIVE), () -> add(node, age(node)));
            }
            if (!nodesListed) {
                nodesListed = true;
                sight.answered(now());
                probe = Periodic.start("node monitor", loop, config.lookPeriod(), 0, random, Controller.this::look);
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
