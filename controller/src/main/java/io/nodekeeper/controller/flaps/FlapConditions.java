package io.nodekeeper.controller.flaps;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.time.Backoff;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the conditions {@code NodeFlapping} of nodes, each until the API has it. Confined to the loop. */
public final class FlapConditions {
    private static final Logger log = LoggerFactory.getLogger(FlapConditions.class);
    /**
     * How long the condition waits so that taints are written first: a taint write carries the node's version, which
     * the write of the condition would change. A write usually ends well within a second.
     */
    private static final Duration AFTER_TAINTS = Duration.ofSeconds(1);
    /**
     * The pauses between attempts to write a condition, which only informs: a fast first retry, then seldom enough not
     * to load a server in trouble.
     */
    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    private final KubeClient client;
    private final PriorityWorkQueue workQueue;
    private final Heartbeats heartbeats;
    /** One for each node whose condition must be written. */
    private final KeyedJobs<NodeHealth, Write> writes;

    FlapConditions(KubeClient client, PriorityWorkQueue workQueue, Heartbeats heartbeats) {
        this.client = client;
        this.workQueue = workQueue;
        this.heartbeats = heartbeats;
        this.writes = new KeyedJobs<>(
                "Condition " + FlapReport.TYPE, workQueue, PriorityWorkQueue.Priority.ORDINARY, client.loop());
    }

    /**
     * Writes a node's condition soon, unless that is about to happen anyway.
     *
     * @param wanted the condition that the API should have by now
     * @param written receives it when the API has it
     */
    void write(NodeHealth health, Supplier<Condition> wanted, Consumer<Condition> written) {
        writes.submitAfter(health, new Write(health, wanted, written), AFTER_TAINTS);
    }

    /** The write of one node's condition. */
    private final class Write implements KeyedJobs.Job {
        private final NodeHealth health;
        private final Supplier<Condition> wanted;
        private final Consumer<Condition> written;
        private int failures;

        private Write(NodeHealth health, Supplier<Condition> wanted, Consumer<Condition> written) {
            this.health = health;
            this.wanted = wanted;
            this.written = written;
        }

        @Override
        public CompletionStage<KeyedJobs.Next> run() {
            if (!heartbeats.isCurrent(health) || workQueue.isClosed()) {
                return KeyedJobs.Next.done();
            }
            Condition sent = wanted.get();
            // With the UID, so that a new node of that name does not inherit it.
            JsonObject patch = JsonObject.EMPTY
                    .with("metadata", JsonObject.EMPTY.with("uid", health.uid()))
                    .with("status", JsonObject.EMPTY.with("conditions", JsonArray.of(sent.json())));
            return client.patch(ResourceType.NODES, "", health.name(), "status", PatchType.STRATEGIC, patch)
                    .handle((done, error) ->
                            error == null || Failures.isCode(error, 404) ? wrote(sent) : failed(error));
        }

        private KeyedJobs.Next wrote(Condition sent) {
            failures = 0;
            if (!sent.equals(wanted.get())) {
                return new KeyedJobs.Next.Again(AFTER_TAINTS);
            }
            written.accept(sent);
            return new KeyedJobs.Next.Done();
        }

        private KeyedJobs.Next failed(Throwable error) {
            Duration wait = RETRY.delay(failures++);
            log.warn(
                    "Node {}: writing condition {} failed: {}; retrying in {}",
                    health.name(),
                    FlapReport.TYPE,
                    Failures.text(error),
                    wait);
            return new KeyedJobs.Next.Again(wait);
        }
    }
}
