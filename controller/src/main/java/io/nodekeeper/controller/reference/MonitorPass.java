package io.nodekeeper.controller.reference;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.explain.NodeEvents;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.reference.ReferenceHealth.Evaluation;
import io.nodekeeper.controller.reference.ReferenceHealth.Saved;
import io.nodekeeper.controller.reference.ReferenceHealth.SeenLease;
import io.nodekeeper.controller.verdicts.Verdict;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds nodes without heartbeats as the reference does, if the gate WatchDrivenDeadlines is disabled: a pass over the
 * cached nodes each monitor period, eight at a time, which trusts the cache. The period starts when a pass has ended.
 * Only this mode caches whole nodes. Confined to the loop.
 *
 * <p>If the gate ObserverGuard is enabled, it reads the lease live before a verdict, so that a lagging cache causes no
 * wrong verdict. It remembers that lease, and uses the cached one only when it is newer. If StateByUid is enabled, a
 * node's record is deleted with it; else a new node of that name inherits the record.
 */
public final class MonitorPass {
    /** The external dependencies of a pass. */
    public record Ports(Loop loop, RandomGenerator random, ControllerMetrics metrics) {}

    private static final Logger log = LoggerFactory.getLogger(MonitorPass.class);
    /** Kubernetes' number of workers. */
    private static final int WORKERS = 8;
    /** Kubernetes' wait between attempts to write a node's status, and the time within which they must start. */
    private static final Duration RETRY_WAIT = Duration.ofMillis(20);
    /** See {@link #RETRY_WAIT}. */
    private static final Duration RETRY_BUDGET = RETRY_WAIT.multipliedBy(5);

    private static final double NANOS = 1e9;

    private final ControllerConfig config;
    private final Ports ports;
    private final KubeClient client;
    private final Loop loop;
    private final NodeEvents events;
    private final PassFollower follower;
    private final History history;
    /** The most records of deleted nodes: twice the nodes of the largest clusters. */
    private static final int MAX_GONE = 10_000;

    private final ReferenceHealth rules;
    private final boolean byUid;
    private final boolean guarded;
    private final PriorityWorkQueue workers = new PriorityWorkQueue(WORKERS);

    private final Mirror<Node> nodes;
    private final Mirror<SeenLease> leases;
    /**
     * By name, or by UID: one for each node. The reference never deletes the records of deleted nodes; here they are
     * deleted when there are more than {@link #MAX_GONE}.
     */
    private final Map<String, Saved> records = new HashMap<>();
    /** Name to UID of the nodes of the last pass. */
    private final Map<String, String> known = new HashMap<>();

    private @Nullable Periodic passes;

    /**
     * Creates a pass that has not started.
     *
     * @param options which parts of the reference's behaviour apply
     * @param history keeps decisions
     * @param client makes its calls, each within the client's deadline
     * @param nodes also receives events of nodes
     * @param leases also receives events of leases
     */
    public MonitorPass(
            ControllerConfig config,
            ReferenceRules options,
            Ports ports,
            History history,
            KubeClient client,
            NodeEvents events,
            PassFollower follower,
            Reflector.Handler nodes,
            Reflector.Handler leases) {
        this.config = config;
        this.ports = ports;
        this.client = client;
        this.loop = ports.loop();
        this.events = events;
        this.follower = follower;
        this.history = history;
        this.rules = new ReferenceHealth(config, options.clockImmune());
        this.byUid = options.byUid();
        this.guarded = options.guarded();
        this.nodes = new Mirror<>(Node::new, nodes);
        this.leases = new Mirror<>(json -> SeenLease.of(new Lease(json)), leases);
    }

    /** The handler for events of nodes. */
    public Reflector.Handler nodes() {
        return nodes;
    }

    /** The handler for events of leases. */
    public Reflector.Handler leases() {
        return leases;
    }

    /** Makes the first pass now, and one each period. */
    public void start() {
        passes = Periodic.start("node monitor", loop, config.nodeMonitorPeriod(), 0, ports.random(), this::run);
    }

    /** Stops passes and writes. */
    public void stop() {
        if (passes != null) {
            passes.stop();
        }
        workers.close();
    }

    /** The grace period of every node starts now. */
    public void restartGraces() {
        long now = now();
        records.replaceAll((key, saved) -> saved.restarted(now));
    }

    private CompletableFuture<Void> run() {
        long began = now();
        List<Node> listed = nodes.all();
        classify(listed);
        CompletableFuture<?>[] visits = listed.stream().map(this::visit).toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(visits).thenRun(() -> {
            follower.passEnded();
            ports.metrics().judgedAllNodes((now() - began) / NANOS);
        });
    }

    private CompletableFuture<Void> visit(Node node) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        workers.urgent(() -> {
            long began = now();
            return new Visit(node).attempt().handle((value, error) -> {
                if (error != null) {
                    log.error("Node {}: evaluation failed", node.name(), error);
                }
                ports.metrics().judgedNode((now() - began) / NANOS);
                return done.complete(null);
            });
        });
        return done;
    }

    /** Reports nodes that were added or deleted since the last pass. The reference identifies them by name only. */
    private void classify(List<Node> listed) {
        Map<String, String> uids = listed.stream().collect(Collectors.toMap(Node::name, Node::uid));
        Map.copyOf(known).forEach((name, uid) -> {
            String now = uids.getOrDefault(name, "");
            if (now.isEmpty() || (byUid && !now.equals(uid))) {
                known.remove(name);
                log.info("Node {} was deleted (uid {})", name, uid);
                events.removing(name, uid);
            }
        });
        if (byUid) {
            records.keySet().retainAll(Set.copyOf(uids.values()));
        } else if (records.size() > uids.size() + MAX_GONE) {
            records.keySet().retainAll(uids.keySet());
        }
        for (Node node : listed) {
            if (known.putIfAbsent(node.name(), node.uid()) == null) {
                log.info("Node {} is followed (uid {})", node.name(), node.uid());
                events.registered(node.name(), node.uid());
            }
        }
    }

    private long now() {
        return loop.clock().nanoTime();
    }

    /** One node in one pass. */
    private final class Visit {
        private final long began = now();
        private final String name;
        private final String uid;
        private final String key;
        private Node node;

        private Visit(Node node) {
            this.node = node;
            this.name = node.name();
            this.uid = node.uid();
            this.key = byUid ? uid : name;
        }

        private CompletionStage<?> attempt() {
            if (workers.isClosed()) {
                return nothing();
            }
            Optional<SeenLease> lease = leases.find(name);
            Evaluation evaluation = rules.evaluate(
                    Optional.ofNullable(records.get(key)),
                    node,
                    lease,
                    now(),
                    loop.clock().wallTime());
            records.put(key, evaluation.saved());
            Verdict verdict =
                    Verdict.of(node, evaluation.deadline(), now(), loop.clock().wallTime());
            return switch (verdict) {
                case Verdict.Alive() -> follow(evaluation);
                case Verdict.AlreadyUnknown() -> follow(evaluation);
                case Verdict.MarkUnknown mark ->
                    guarded ? readLive(evaluation, lease, mark) : write(evaluation, lease, mark);
            };
        }

        private CompletionStage<?> readLive(
                Evaluation evaluation, Optional<SeenLease> cached, Verdict.MarkUnknown mark) {
            return client.get(ResourceType.LEASES, Lease.NODE_NAMESPACE, name)
                    .handle((read, error) -> {
                        if (error != null) {
                            return Failures.isCode(error, 404) ? write(evaluation, cached, mark) : tryAgain(error);
                        }
                        SeenLease live = SeenLease.of(new Lease(read));
                        Optional<Evaluation> saved = rules.evaluateLive(evaluation, node, live, now());
                        if (saved.isEmpty()) {
                            return write(evaluation, cached, mark);
                        }
                        log.info(
                                "Node {} is late only in the cache: its lease was renewed at {}",
                                name,
                                live.renewTime());
                        records.put(key, saved.get().saved());
                        return follow(saved.get());
                    })
                    .thenCompose(next -> next);
        }

        private CompletionStage<?> write(Evaluation evaluation, Optional<SeenLease> lease, Verdict.MarkUnknown mark) {
            if (workers.isClosed()) {
                return nothing();
            }
            return client.updateStatus(ResourceType.NODES, "", name, mark.node().json())
                    .handle((written, error) -> {
                        if (error != null) {
                            return tryAgain(error);
                        }
                        node = new Node(written);
                        records.put(key, rules.written(evaluation, mark.node(), lease, now()));
                        report(evaluation);
                        return follow(evaluation);
                    })
                    .thenCompose(next -> next);
        }

        private void report(Evaluation evaluation) {
            String silence = Ages.text(now() - evaluation.saved().probe());
            log.info(
                    "Node {} is now Unknown: not updated for {}, deadline missed by {}; Ready was {}",
                    name,
                    silence,
                    Ages.text(now() - evaluation.deadline()),
                    evaluation.observedReady());
            history.add(new Decision(
                    loop.clock().wallTime(),
                    name,
                    uid,
                    "Unknown",
                    "No heartbeat was seen for " + silence + "; found by a monitor pass.",
                    JsonObject.builder()
                            .put("observedReady", evaluation.observedReady())
                            .put("silentMillis", (now() - evaluation.saved().probe()) / 1_000_000)
                            .put("lateMillis", (now() - evaluation.deadline()) / 1_000_000)
                            .put("resourceVersion", node.resourceVersion())
                            .build()));
        }

        /** Reads the node again and repeats the evaluation: a heartbeat that arrived meanwhile prevents the verdict. */
        private CompletionStage<?> tryAgain(Throwable error) {
            return client.get(ResourceType.NODES, "", name)
                    .handle((read, gone) -> {
                        if (gone != null || !isSame(new Node(read))) {
                            return giveUp(gone == null || Failures.isCode(gone, 404) ? "" : Failures.text(gone));
                        }
                        node = new Node(read);
                        long wait = RETRY_WAIT.toNanos();
                        long next = ((now() - began) / wait + 1) * wait;
                        if (next > RETRY_BUDGET.toNanos()) {
                            return giveUp(Failures.text(error));
                        }
                        return Deadlines.sleep(loop, Duration.ofNanos(next - (now() - began)))
                                .thenCompose(slept -> attempt());
                    })
                    .thenCompose(next -> next);
        }

        private boolean isSame(Node read) {
            return !byUid || read.uid().equals(uid);
        }

        /** Skips the node in this pass; does not log a node that was deleted. */
        private CompletionStage<?> giveUp(String why) {
            if (!why.isEmpty()) {
                log.info("Node {} is late, but writing its status failed: {}; the next pass retries", name, why);
            }
            return nothing();
        }

        private CompletionStage<?> follow(Evaluation evaluation) {
            String current = node.ready().map(Condition::status).orElse("");
            boolean wasReady = evaluation.observedReady().equals(Condition.TRUE);
            follower.judged(node, evaluation.observedReady(), current);
            if (wasReady && !current.equals(Condition.TRUE)) {
                events.notReady(name, uid);
                follower.nodeWentSilent(name);
            }
            return nothing();
        }

        private static CompletionStage<?> nothing() {
            return CompletableFuture.completedStage(null);
        }
    }
}
