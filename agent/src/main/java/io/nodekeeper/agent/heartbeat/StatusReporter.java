package io.nodekeeper.agent.heartbeat;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.status.NodeEvent;
import io.nodekeeper.agent.status.StatusComparison;
import io.nodekeeper.agent.status.StatusPatch;
import io.nodekeeper.agent.status.StatusResult;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the node's status: recomputes it, and patches it when it changed or a report is due. One report at a time.
 * Confined to its client's loop.
 */
public final class StatusReporter {
    private static final Logger log = LoggerFactory.getLogger(StatusReporter.class);
    /** The longest patch in an error message, in characters; the rest is cut to keep log lines readable. */
    private static final int PATCH_TEXT = 512;
    /** How often a starting node checks whether it became ready (Kubernetes). */
    private static final Duration FAST_PERIOD = Duration.ofMillis(100);
    /** How long it does so (Kubernetes). */
    private static final Duration FAST_LIMIT = Duration.ofSeconds(120);

    /** How a round ended. */
    public enum Outcome {
        /** The API has the current status: it was patched, or needs no patch. */
        DONE,
        /** All attempts failed. */
        FAILED,
        /** The server responded that there is no such Node. */
        GONE
    }

    private final AgentConfig config;
    private final KubeClient client;
    private final Loop loop;
    private final NodeSource nodes;
    private final RandomGenerator random;
    private final Runnable onRepeatedFailure;
    private final BiFunction<Node, Boolean, StatusResult> setters;
    private final Consumer<NodeEvent> tell;
    private final ReportRule rule;
    private CompletableFuture<Outcome> running = CompletableFuture.completedFuture(Outcome.DONE);
    private Consumer<Node> acknowledged = node -> {};
    private boolean knownUnschedulable;
    private boolean stopped;

    /**
     * A reporter that is not started yet.
     *
     * @param setters computes the status of a Node; its second argument is the last reported value of unschedulable
     * @param tell receives events once the change that they report has reached the API
     */
    public StatusReporter(
            AgentConfig config,
            KubeClient client,
            NodeSource nodes,
            RandomGenerator random,
            Runnable onRepeatedFailure,
            BiFunction<Node, Boolean, StatusResult> setters,
            Consumer<NodeEvent> tell) {
        this.config = config;
        this.client = client;
        this.loop = client.loop();
        this.nodes = nodes;
        this.random = random;
        this.onRepeatedFailure = onRepeatedFailure;
        this.setters = setters;
        this.tell = tell;
        this.rule = new ReportRule(config.nodeStatusReportFrequency());
    }

    /** From now on {@code listener} gets the Node as the API has it after each successful try of {@link #sync}. */
    public void onAcknowledged(Consumer<Node> listener) {
        acknowledged = listener;
    }

    /** Runs a round of up to five attempts, after the one in progress if there is one. */
    public CompletableFuture<Outcome> sync() {
        running = running.isDone() ? tryFrom(0) : running.thenCompose(before -> tryFrom(0));
        return running;
    }

    /**
     * Starts to check frequently whether the node became ready, so that the first Ready does not wait for the period.
     */
    public void startFastPath() {
        fast(loop.clock().nanoTime());
    }

    /** Starts no further attempt. */
    public void stop() {
        stopped = true;
    }

    private CompletableFuture<Outcome> tryFrom(int index) {
        if (stopped) {
            return CompletableFuture.completedFuture(Outcome.FAILED);
        }
        if (index == RetryPause.TRIES) {
            log.error("Unable to update node status: {}: update node status exceeds retry count", config.nodeName());
            return CompletableFuture.completedFuture(Outcome.FAILED);
        }
        return oneTry(index)
                .handle((outcome, error) -> {
                    if (error == null) {
                        return CompletableFuture.completedFuture(outcome);
                    }
                    if (index == 0) {
                        // The first attempt uses the cache, which may lag; the next ones read from the server.
                        log.info("Error updating node status, will retry: {}", Failures.text(error));
                    } else {
                        log.error("Error updating node status, will retry: {}", Failures.text(error));
                        onRepeatedFailure.run();
                    }
                    Duration pause =
                            index == RetryPause.TRIES - 1 ? Duration.ZERO : RetryPause.after(error, index, random);
                    return Deadlines.sleep(loop, pause).thenCompose(waited -> tryFrom(index + 1));
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Outcome> oneTry(int index) {
        if (index == 0) {
            return nodes.node(config.nodeName())
                    .map(this::report)
                    .orElseGet(() -> CompletableFuture.failedFuture(new HeartbeatException(
                            "error getting node \"" + config.nodeName() + "\": not in the cache yet", null)));
        }
        return client.get(ResourceType.NODES, "", config.nodeName())
                .handle((node, error) -> {
                    if (error == null) {
                        return report(new Node(node));
                    }
                    return Failures.isCode(error, 404)
                            ? CompletableFuture.completedFuture(Outcome.GONE)
                            : CompletableFuture.<Outcome>failedFuture(new HeartbeatException(
                                    "error getting node \"" + config.nodeName() + "\": " + Failures.text(error),
                                    Failures.cause(error)));
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Outcome> report(Node stored) {
        StatusResult result = setters.apply(stored, knownUnschedulable);
        result.errors().forEach(error -> log.warn("Failed to set some node status fields: {}", error));
        boolean changed = StatusComparison.changed(stored, result.node());
        if (!rule.due(changed, loop.clock().nanoTime())) {
            stored(stored, result);
            acknowledged.accept(result.node());
            return CompletableFuture.completedFuture(Outcome.DONE);
        }
        return patch(stored, result, changed).thenApply(patched -> {
            acknowledged.accept(patched);
            return Outcome.DONE;
        });
    }

    private CompletableFuture<Node> patch(Node stored, StatusResult result, boolean changed) {
        rule.sending(changed, random.nextDouble());
        JsonObject patch = StatusPatch.between(stored, result.node());
        return client.patch(ResourceType.NODES, "", config.nodeName(), "status", PatchType.STRATEGIC, patch)
                .handle((patched, error) -> {
                    if (error != null) {
                        return CompletableFuture.<Node>failedFuture(failure(patch, error));
                    }
                    rule.reported(loop.clock().nanoTime());
                    stored(stored, result);
                    return CompletableFuture.completedFuture(new Node(patched));
                })
                .thenCompose(next -> next);
    }

    private HeartbeatException failure(JsonObject patch, Throwable error) {
        String text = Json.write(patch);
        String shown = text.length() <= PATCH_TEXT ? text : text.substring(0, PATCH_TEXT) + "…";
        return new HeartbeatException(
                "failed to patch status \"" + shown + "\" for node \"" + config.nodeName() + "\": "
                        + Failures.text(error),
                Failures.cause(error));
    }

    private void stored(Node before, StatusResult result) {
        result.events().forEach(tell);
        knownUnschedulable = result.node().unschedulable();
        Optional<Condition> ready = result.node().ready();
        if (!ready.map(Condition::status).equals(before.ready().map(Condition::status))) {
            log.info(
                    "Node {} Ready={}: {}",
                    config.nodeName(),
                    ready.map(Condition::status).orElse(""),
                    ready.map(Condition::message).orElse(""));
        }
    }

    private void fast(long startedAt) {
        if (stopped) {
            return;
        }
        if (loop.clock().nanoTime() - startedAt >= FAST_LIMIT.toNanos()) {
            log.error("Node not becoming ready in time after startup: {}", config.nodeName());
            return;
        }
        Optional<Node> node = nodes.node(config.nodeName());
        Optional<Condition> ready = node.flatMap(Node::ready);
        if (ready.filter(condition -> condition.status().equals(Condition.TRUE)).isPresent()) {
            return;
        }
        if (ready.isEmpty() || !running.isDone()) {
            fastAgain(startedAt);
            return;
        }
        StatusResult result = setters.apply(node.get(), knownUnschedulable);
        boolean changed = StatusComparison.changed(node.get(), result.node());
        if (!changed || !result.node().isReady()) {
            fastAgain(startedAt);
            return;
        }
        log.info("Fast updating node status as it just became ready: {}", config.nodeName());
        running = patch(node.get(), result, true)
                .handle((patched, error) -> {
                    if (error == null) {
                        return CompletableFuture.completedFuture(Outcome.DONE);
                    }
                    log.error("Error updating node status, will retry with full sync: {}", Failures.text(error));
                    return tryFrom(0);
                })
                .thenCompose(next -> next);
    }

    private void fastAgain(long startedAt) {
        loop.schedule(FAST_PERIOD, () -> fast(startedAt));
    }
}
