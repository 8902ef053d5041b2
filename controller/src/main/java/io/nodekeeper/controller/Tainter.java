package io.nodekeeper.controller;

import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the taints of nodes in step with their conditions: one PATCH with the whole list, made for the state that was
 * seen; if that has changed meanwhile, again for a fresh one. One write a node at a time; one that keeps failing is
 * repeated until it is no longer needed. As Kubernetes does it ({@link FeatureGate#SINGLE_TAINT_PATCH} off), the node is
 * read first, from the API server's cache, and what goes is removed by a PATCH of its own. Confined to the loop.
 */
final class Tainter implements NodeFollower {
    /** What is under way for one node. */
    static final class Work {
        private Optional<TaintPlan> plan = Optional.empty();
        private boolean running;
        /** Whether the node has to be read before anything is written. */
        private boolean unread;
        /** Whether something was seen since the write began that needs another one. */
        private boolean outdated;
        /** Whether a NoExecute taint was written where there was none. */
        private boolean tainted;

        private int failures;
    }

    private static final Logger log = LoggerFactory.getLogger(Tainter.class);
    /** Kubernetes' number of tries after a conflict, and its wait between them, which is stretched by up to as much. */
    private static final int TRIES = 5;
    /** See {@link #TRIES}. */
    private static final Duration CONFLICT_WAIT = Duration.ofMillis(100);
    /** Between rounds that failed otherwise. Chosen. */
    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    private final KubeClient client;
    private final Loop loop;
    private final RandomGenerator random;
    private final Heartbeats heartbeats;
    private final Lanes lanes;
    private final boolean oneWrite;
    private final NoExecute.Rules rules;
    private final Damping damping;
    private final History history;
    private final BiConsumer<NodeHealth, Node> written;

    /** {@code written} hears of every node that was written here. */
    Tainter(
            KubeClient client,
            RandomGenerator random,
            Heartbeats heartbeats,
            Lanes lanes,
            FeatureGates gates,
            NoExecute.Rules rules,
            Damping damping,
            History history,
            BiConsumer<NodeHealth, Node> written) {
        this.client = client;
        this.loop = client.loop();
        this.random = random;
        this.heartbeats = heartbeats;
        this.lanes = lanes;
        this.oneWrite = gates.has(FeatureGate.SINGLE_TAINT_PATCH);
        this.rules = rules;
        this.damping = damping;
        this.history = history;
        this.written = written;
    }

    @Override
    public void seen(NodeHealth health, Node node) {
        Optional<TaintPlan> plan = plan(health, node);
        Work work = health.taintWork;
        if (work == null) {
            plan.ifPresent(needed -> begin(health, plan, !oneWrite));
        } else if (work.running) {
            work.outdated |=
                    plan.isPresent() && !work.plan.map(TaintPlan::version).equals(plan.map(TaintPlan::version));
        } else {
            work.plan = plan;
            work.unread = !oneWrite && plan.isPresent();
        }
    }

    /** What may be done about the node's taints has changed: it is read and brought in step. */
    void recheck(NodeHealth health) {
        Work work = health.taintWork;
        if (work == null) {
            begin(health, Optional.empty(), true);
        } else if (work.running) {
            work.outdated = true;
        } else {
            work.unread = true;
        }
    }

    private void begin(NodeHealth health, Optional<TaintPlan> plan, boolean unread) {
        Work work = new Work();
        work.plan = plan;
        work.unread = unread;
        health.taintWork = work;
        lanes.ordinary(() -> {
            work.running = true;
            return work.unread ? read(health, work, 1) : attempt(health, work, 1);
        });
    }

    private Optional<TaintPlan> plan(NodeHealth health, Node node) {
        TaintPlan.Manner manner = new TaintPlan.Manner(rules.rule(health), damping.holds(health), oneWrite);
        return TaintPlan.of(node, manner, loop.clock().wallTime());
    }

    private CompletionStage<?> attempt(NodeHealth health, Work work, int number) {
        if (!heartbeats.isCurrent(health) || lanes.isClosed()) {
            return done(health);
        }
        if (work.plan.isEmpty()) {
            return work.outdated ? read(health, work, number) : settled(health, work);
        }
        TaintPlan plan = work.plan.get();
        return client.patch(ResourceType.NODES, "", health.name, "", PatchType.STRATEGIC, plan.patch())
                .handle((patched, error) ->
                        error == null ? wrote(health, work, plan, patched) : refused(health, work, number, error))
                .thenCompose(next -> next);
    }

    private CompletionStage<?> wrote(NodeHealth health, Work work, TaintPlan plan, JsonObject patched) {
        log.info("Node {}: taints added {}, removed {}", health.name, plan.added(), plan.removed());
        Node node = new Node(patched);
        record(health, plan, node);
        work.failures = 0;
        work.tainted |= plan.tainted();
        // Only if nothing but removals is left: a server that does not take what came is not asked for ever.
        boolean more = plan.more()
                && plan(health, node).filter(rest -> rest.added().isEmpty()).isPresent();
        if (work.outdated || more) {
            return read(health, work, 1);
        }
        CompletionStage<?> done = settled(health, work);
        if (heartbeats.isCurrent(health)) {
            written.accept(health, node);
        }
        return done;
    }

    private void record(NodeHealth health, TaintPlan plan, Node node) {
        history.add(new Decision(
                loop.clock().wallTime(),
                health.name,
                health.uid,
                plan.added().isEmpty() ? "Untainted" : "Tainted",
                "Taints added " + plan.added() + ", removed " + plan.removed(),
                JsonObject.builder()
                        .put("added", JsonArray.ofStrings(plan.added()))
                        .put("removed", JsonArray.ofStrings(plan.removed()))
                        .put("forVersion", plan.version())
                        .put("writtenVersion", node.resourceVersion())
                        .build()));
    }

    private CompletionStage<?> refused(NodeHealth health, Work work, int number, Throwable error) {
        if (Failures.isCode(error, 409) && number < TRIES) {
            return Deadlines.sleep(loop, Jitter.stretch(CONFLICT_WAIT, 1.0, random))
                    .thenCompose(slept -> read(health, work, number + 1));
        }
        return failed(health, work, error);
    }

    private CompletionStage<?> read(NodeHealth health, Work work, int number) {
        work.outdated = false;
        // Kubernetes' first try takes what the API server has at hand; after a conflict that is not good enough.
        String query = oneWrite || number > 1 ? "" : "resourceVersion=0";
        return client.get(ResourceType.NODES, "", health.name, query)
                .handle((read, error) -> {
                    if (error != null) {
                        return failed(health, work, error);
                    }
                    Node node = new Node(read);
                    if (!node.uid().equals(health.uid)) {
                        return done(health);
                    }
                    work.plan = plan(health, node);
                    return attempt(health, work, number);
                })
                .thenCompose(next -> next);
    }

    private CompletionStage<?> failed(NodeHealth health, Work work, Throwable error) {
        if (Failures.isCode(error, 404)) {
            return done(health);
        }
        Duration wait = RETRY.delay(work.failures++);
        log.warn("Node {}: taints not written: {}; again in {}", health.name, Failures.text(error), wait);
        loop.schedule(wait, () -> lanes.ordinary(() -> read(health, work, 1)));
        return CompletableFuture.completedStage(null);
    }

    private CompletionStage<?> settled(NodeHealth health, Work work) {
        CompletionStage<?> done = done(health);
        rules.settled(health, work.tainted);
        return done;
    }

    private static CompletionStage<?> done(NodeHealth health) {
        health.taintWork = null;
        return CompletableFuture.completedStage(null);
    }
}
