package io.nodekeeper.controller.taints;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the taints of nodes agree with their conditions. One PATCH replaces the whole list, on the condition that the
 * node has not changed since it was seen; if it has, the node is read and patched again. At most one write per node
 * runs at a time, and a failing write is repeated until it is no longer needed. Without {@code oneWrite}, as in
 * Kubernetes, the node is first read from the API server's cache, and taints are removed by a separate PATCH. Confined
 * to the loop.
 */
public final class Tainter {
    private static final Logger log = LoggerFactory.getLogger(Tainter.class);
    /** Kubernetes' number of attempts after a conflict, and its wait between them, with jitter of up to 100 %. */
    private static final int TRIES = 5;
    /** See {@link #TRIES}. */
    private static final Duration CONFLICT_WAIT = Duration.ofMillis(100);
    /**
     * The pauses after other failures: a fast first retry, because a single response may be lost, then seldom enough
     * not to load a server in trouble.
     */
    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    private final KubeClient client;
    private final Loop loop;
    private final RandomGenerator random;
    private final Heartbeats heartbeats;
    private final PriorityWorkQueue workQueue;
    private final boolean oneWrite;
    private final NoExecute.Rules rules;
    private final Damping damping;
    private final History history;
    private final BiConsumer<NodeHealth, Node> written;
    /** One for each node whose taints must be written. */
    private final KeyedJobs<NodeHealth, Work> jobs;

    /**
     * Creates a tainter without work.
     *
     * @param oneWrite whether one PATCH adds and removes taints
     * @param written receives every node that was written
     */
    public Tainter(
            KubeClient client,
            RandomGenerator random,
            Heartbeats heartbeats,
            PriorityWorkQueue workQueue,
            boolean oneWrite,
            NoExecute.Rules rules,
            Damping damping,
            History history,
            BiConsumer<NodeHealth, Node> written) {
        this.client = client;
        this.loop = client.loop();
        this.random = random;
        this.heartbeats = heartbeats;
        this.workQueue = workQueue;
        this.oneWrite = oneWrite;
        this.rules = rules;
        this.damping = damping;
        this.history = history;
        this.written = written;
        this.jobs = new KeyedJobs<>("Taints", workQueue, PriorityWorkQueue.Priority.ORDINARY, loop, this::released);
    }

    /** This is the newest state of a known node. */
    public void seen(NodeHealth health, Node node) {
        Optional<TaintPlan> plan = plan(health, node);
        Optional<Work> known = jobs.find(health);
        if (known.isPresent()) {
            known.get().seen(plan);
        } else if (plan.isPresent()) {
            begin(health, plan, !oneWrite);
        }
    }

    /** The rule for the node's taints has changed: reads the node and corrects its taints. */
    public void recheck(NodeHealth health) {
        Optional<Work> known = jobs.find(health);
        if (known.isPresent()) {
            known.get().outdate();
        } else {
            begin(health, Optional.empty(), true);
        }
    }

    /** The number of nodes whose taints must be written. */
    public int size() {
        return jobs.size();
    }

    private void begin(NodeHealth health, Optional<TaintPlan> plan, boolean unread) {
        jobs.submit(health, new Work(health, plan, unread));
    }

    /** Called after the key was released, because the written state may start another job. */
    private void released(NodeHealth health, Work work) {
        if (!heartbeats.isCurrent(health)) {
            return;
        }
        if (work.outdated) {
            recheck(health);
        }
        work.result.ifPresent(node -> written.accept(health, node));
    }

    private Optional<TaintPlan> plan(NodeHealth health, Node node) {
        TaintPlan.Manner manner = new TaintPlan.Manner(rules.rule(health), damping.holds(health), oneWrite);
        return TaintPlan.of(node, manner, loop.clock().wallTime());
    }

    /** The write of one node's taints. */
    private final class Work implements KeyedJobs.Job {
        private final NodeHealth health;
        private Optional<TaintPlan> plan;
        /** Whether the node must be read before a write. */
        private boolean unread;

        /** Whether a round of attempts has begun and not ended; it pauses after a conflict. */
        private boolean running;
        /** Whether a change seen since the write began needs another write. */
        private boolean outdated;
        /** Whether a NoExecute taint was written where there was none. */
        private boolean tainted;
        /** The node as it was written last. */
        private Optional<Node> result = Optional.empty();

        private int failures;
        /** The number of the next attempt of a round, from 1 on. */
        private int attempt = 1;

        private Work(NodeHealth health, Optional<TaintPlan> plan, boolean unread) {
            this.health = health;
            this.plan = plan;
            this.unread = unread;
        }

        private void seen(Optional<TaintPlan> needed) {
            if (running) {
                outdated |= needed.isPresent() && !plan.map(TaintPlan::version).equals(needed.map(TaintPlan::version));
            } else {
                plan = needed;
                unread = !oneWrite && needed.isPresent();
            }
        }

        private void outdate() {
            if (running) {
                outdated = true;
            } else {
                unread = true;
            }
        }

        @Override
        public CompletionStage<KeyedJobs.Next> run() {
            // After a conflict the node has changed; after an unexpected end it is unknown what was written.
            boolean isContinued = running;
            running = true;
            return unread || isContinued ? read() : write();
        }

        private CompletionStage<KeyedJobs.Next> write() {
            if (!heartbeats.isCurrent(health) || workQueue.isClosed()) {
                return KeyedJobs.Next.done();
            }
            if (plan.isEmpty()) {
                return outdated ? read() : settled();
            }
            TaintPlan sent = plan.get();
            return client.patch(ResourceType.NODES, "", health.name(), "", PatchType.STRATEGIC, sent.patch())
                    .handle((patched, error) -> error == null ? wrote(sent, patched) : refused(error))
                    .thenCompose(next -> next);
        }

        private CompletionStage<KeyedJobs.Next> wrote(TaintPlan sent, JsonObject patched) {
            log.info("Node {}: added taints {}, removed {}", health.name(), sent.added(), sent.removed());
            Node node = new Node(patched);
            record(health, sent, node);
            failures = 0;
            attempt = 1;
            tainted |= sent.tainted();
            // Only if just removals are left, so that a server that ignores additions does not cause endless writes.
            boolean more = sent.more()
                    && plan(health, node).filter(rest -> rest.added().isEmpty()).isPresent();
            if (outdated || more) {
                return read();
            }
            result = Optional.of(node);
            return settled();
        }

        /** After a conflict the job waits outside the work queue, whose places are for calls. */
        private CompletionStage<KeyedJobs.Next> refused(Throwable error) {
            if (Failures.isCode(error, 409) && attempt < TRIES) {
                attempt++;
                return KeyedJobs.Next.again(Jitter.stretch(CONFLICT_WAIT, 1.0, random));
            }
            return failed(error);
        }

        private CompletionStage<KeyedJobs.Next> read() {
            outdated = false;
            // Kubernetes' first attempt reads from the API server's cache; after a conflict it needs the newest state.
            String query = oneWrite || attempt > 1 ? "" : "resourceVersion=0";
            return client.get(ResourceType.NODES, "", health.name(), query)
                    .handle((json, error) -> {
                        if (error != null) {
                            return failed(error);
                        }
                        Node node = new Node(json);
                        if (!node.uid().equals(health.uid())) {
                            return KeyedJobs.Next.done();
                        }
                        plan = plan(health, node);
                        return write();
                    })
                    .thenCompose(next -> next);
        }

        private CompletionStage<KeyedJobs.Next> failed(Throwable error) {
            if (Failures.isCode(error, 404)) {
                return KeyedJobs.Next.done();
            }
            Duration wait = RETRY.delay(failures++);
            log.warn("Node {}: writing taints failed: {}; retrying in {}", health.name(), Failures.text(error), wait);
            running = false;
            attempt = 1;
            unread = true;
            return KeyedJobs.Next.again(wait);
        }

        private CompletionStage<KeyedJobs.Next> settled() {
            rules.settled(health, tainted);
            return KeyedJobs.Next.done();
        }
    }

    private void record(NodeHealth health, TaintPlan plan, Node node) {
        history.add(new Decision(
                loop.clock().wallTime(),
                health.name(),
                health.uid(),
                plan.added().isEmpty() ? "Untainted" : "Tainted",
                "Taints added " + plan.added() + ", removed " + plan.removed(),
                JsonObject.builder()
                        .put("added", JsonArray.ofStrings(plan.added()))
                        .put("removed", JsonArray.ofStrings(plan.removed()))
                        .put("forVersion", plan.version())
                        .put("writtenVersion", node.resourceVersion())
                        .build()));
    }
}
