package io.nodekeeper.controller;

import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.client.PatchType;
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
 * Keeps the NoSchedule taints of nodes in step with their conditions: one PATCH with the whole list, made for the state
 * that was seen; if that has changed meanwhile, again for a fresh one. One write a node at a time; one that keeps failing
 * is repeated until it is no longer needed. Confined to the loop.
 */
final class Tainter {
    /** What is under way for one node. */
    static final class Work {
        private Optional<TaintPlan> plan;
        private boolean running;
        /** Whether a state was seen since the write began that needs another one. */
        private boolean outdated;

        private int failures;

        private Work(TaintPlan plan) {
            this.plan = Optional.of(plan);
        }
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
    private final BiConsumer<NodeHealth, Node> written;

    /** {@code written} hears of every node that was written here. */
    Tainter(
            KubeClient client,
            RandomGenerator random,
            Heartbeats heartbeats,
            Lanes lanes,
            BiConsumer<NodeHealth, Node> written) {
        this.client = client;
        this.loop = client.loop();
        this.random = random;
        this.heartbeats = heartbeats;
        this.lanes = lanes;
        this.written = written;
    }

    /** This is the newest state of the node. */
    void saw(NodeHealth health, Node node) {
        Optional<TaintPlan> plan = TaintPlan.of(node, loop.clock().wallTime());
        Work work = health.taintWork;
        if (work == null) {
            plan.ifPresent(needed -> {
                Work begun = new Work(needed);
                health.taintWork = begun;
                lanes.ordinary(() -> run(health, begun));
            });
        } else if (work.running) {
            work.outdated =
                    plan.isPresent() && !work.plan.map(TaintPlan::version).equals(plan.map(TaintPlan::version));
        } else {
            work.plan = plan;
        }
    }

    private CompletionStage<?> run(NodeHealth health, Work work) {
        work.running = true;
        return attempt(health, work, 1);
    }

    private CompletionStage<?> attempt(NodeHealth health, Work work, int number) {
        if (work.plan.isEmpty() || !heartbeats.isCurrent(health) || lanes.isClosed()) {
            return done(health);
        }
        TaintPlan plan = work.plan.get();
        return client.patch(ResourceType.NODES, "", health.name, "", PatchType.STRATEGIC, plan.patch())
                .handle((patched, error) ->
                        error == null ? wrote(health, work, plan, patched) : refused(health, work, number, error))
                .thenCompose(next -> next);
    }

    private CompletionStage<?> wrote(NodeHealth health, Work work, TaintPlan plan, JsonObject patched) {
        log.info("Node {}: NoSchedule taints added {}, removed {}", health.name, plan.added(), plan.removed());
        work.failures = 0;
        if (work.outdated) {
            return refresh(health, work, 1);
        }
        CompletionStage<?> done = done(health);
        if (heartbeats.isCurrent(health)) {
            written.accept(health, new Node(patched));
        }
        return done;
    }

    private CompletionStage<?> refused(NodeHealth health, Work work, int number, Throwable error) {
        if (Failures.isCode(error, 409) && number < TRIES) {
            return Deadlines.sleep(loop, Jitter.stretch(CONFLICT_WAIT, 1.0, random))
                    .thenCompose(slept -> refresh(health, work, number + 1));
        }
        return failed(health, work, error);
    }

    private CompletionStage<?> refresh(NodeHealth health, Work work, int number) {
        return client.get(ResourceType.NODES, "", health.name)
                .handle((read, error) -> {
                    if (error != null) {
                        return failed(health, work, error);
                    }
                    Node node = new Node(read);
                    if (!node.uid().equals(health.uid)) {
                        return done(health);
                    }
                    work.plan = TaintPlan.of(node, loop.clock().wallTime());
                    work.outdated = false;
                    return attempt(health, work, number);
                })
                .thenCompose(next -> next);
    }

    private CompletionStage<?> failed(NodeHealth health, Work work, Throwable error) {
        if (Failures.isCode(error, 404)) {
            return done(health);
        }
        Duration wait = RETRY.delay(work.failures++);
        log.warn("Node {}: NoSchedule taints not written: {}; again in {}", health.name, Failures.text(error), wait);
        loop.schedule(wait, () -> lanes.ordinary(() -> refresh(health, work, 1)));
        return CompletableFuture.completedStage(null);
    }

    private static CompletionStage<?> done(NodeHealth health) {
        health.taintWork = null;
        return CompletableFuture.completedStage(null);
    }
}
