package io.nodekeeper.agent.companion;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.TokenBucket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a companion's conditions into the Node's status: when the Node shows others, and slowly for their heartbeat times. It
 * compares with the Node as it is, so a Node that was deleted and created again gets the conditions again. It never creates a
 * Node. At most one write is under way. Confined to its client's loop.
 */
final class ConditionWriter {
    private static final Logger log = LoggerFactory.getLogger(ConditionWriter.class);
    /**
     * Between two writes of unchanged conditions: 5 min, as the kubelet reports an unchanged status. More often would only add
     * load: whether the node lives is the lease's business.
     */
    static final Duration REFRESH = Duration.ofMinutes(5);
    /** The first refresh is spread by this share before and after, so that companions that start together do not write so. */
    private static final double SPREAD = 0.5;
    /**
     * After a burst, one write each 10 s, the kubelet's own period. It bounds what a condition that flaps, or another
     * program that writes the same types, can cause.
     */
    static final Duration SPACING = Duration.ofSeconds(10);
    /** The burst: a start writes three times, and a fault with its consequences two or three times. */
    static final int BURST = 5;

    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));
    /** A watch that has not delivered our write after this time is late; until then the answer to the write counts. */
    private static final Duration ECHO = Duration.ofSeconds(10);

    private final String nodeName;
    private final KubeClient client;
    private final Loop loop;
    private final RandomGenerator random;
    private final TokenBucket budget;
    private CompletableFuture<?> writing = CompletableFuture.completedFuture(null);
    /** The Node that the last write returned, while the watch still shows the version before it. */
    private Optional<Node> answered = Optional.empty();

    private String versionBefore = "";
    private String uidRefreshed = "";
    private long answeredAt;
    private long refreshAt;
    private long notBefore;
    private int failures;
    private boolean written;
    private boolean stopped;

    /** A writer for the Node {@code nodeName}; the client's deadline bounds each write. */
    ConditionWriter(String nodeName, KubeClient client, RandomGenerator random) {
        this.nodeName = nodeName;
        this.client = client;
        this.loop = client.loop();
        this.random = random;
        long now = loop.clock().nanoTime();
        this.budget = new TokenBucket(1e9 / SPACING.toNanos(), BURST, now);
        this.notBefore = now;
    }

    /** Writes if it is time to; to be called every second. {@code seen} is the Node according to the watch. */
    void update(Optional<Node> seen, List<ConditionReport> reports) {
        long now = loop.clock().nanoTime();
        if (stopped || seen.isEmpty() || !writing.isDone() || now - notBefore < 0) {
            return;
        }
        Node node = current(seen.get(), now);
        if (!node.uid().equals(uidRefreshed)) {
            uidRefreshed = node.uid();
            refreshAt = now + spread();
        }
        boolean refresh = now - refreshAt >= 0;
        if (!refresh && !ConditionPatch.differs(node, reports) || !budget.tryTake(now)) {
            return;
        }
        Optional<JsonObject> patch = refresh
                ? ConditionPatch.refresh(node, reports, loop.clock().wallTime())
                : ConditionPatch.changes(node, reports, loop.clock().wallTime());
        patch.ifPresent(body -> write(body, seen.get().resourceVersion(), refresh));
    }

    /** Whether the Node has had the conditions at least once. */
    boolean written() {
        return written;
    }

    /**
     * Writes no more reports, and sets those that the Node has to Unknown. Completes when that was answered, or failed.
     */
    CompletableFuture<Void> withdraw(Optional<Node> seen, List<ConditionReport> reports) {
        stopped = true;
        return writing.<Void>handle((done, error) -> null).thenCompose(done -> {
            Optional<JsonObject> patch = seen.map(
                            node -> current(node, loop.clock().nanoTime()))
                    .flatMap(node -> ConditionPatch.withdrawal(
                            node, reports, loop.clock().wallTime()));
            return patch.map(this::send)
                    .orElseGet(() -> CompletableFuture.completedFuture(JsonObject.EMPTY))
                    .handle((reply, error) -> {
                        if (error != null) {
                            log.warn("Node {}: its conditions stay as they are: {}", nodeName, Failures.text(error));
                        }
                        return null;
                    });
        });
    }

    /** The newer one of the watch's Node and the last answer. */
    private Node current(Node seen, long now) {
        if (!seen.resourceVersion().equals(versionBefore) || now - answeredAt > ECHO.toNanos()) {
            answered = Optional.empty();
        }
        return answered.orElse(seen);
    }

    private long spread() {
        return (long) (REFRESH.toNanos() * (1 - SPREAD + 2 * SPREAD * random.nextDouble()));
    }

    private void write(JsonObject patch, String version, boolean refresh) {
        writing = send(patch).handle((reply, error) -> {
            long now = loop.clock().nanoTime();
            if (error == null) {
                failures = 0;
                written = true;
                answered = Optional.of(new Node(reply));
                versionBefore = version;
                answeredAt = now;
                if (refresh) {
                    refreshAt = now + REFRESH.toNanos();
                }
            } else {
                Duration pause = Jitter.stretch(RETRY.delay(failures++), SPREAD, random);
                notBefore = now + pause.toNanos();
                if (failures == 1) {
                    log.warn("Node {}: writing its conditions failed, will retry: {}", nodeName, Failures.text(error));
                }
            }
            return null;
        });
    }

    private CompletableFuture<JsonObject> send(JsonObject patch) {
        return client.patch(ResourceType.NODES, "", nodeName, "status", PatchType.STRATEGIC, patch);
    }
}
