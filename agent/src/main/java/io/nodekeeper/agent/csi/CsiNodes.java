package io.nodekeeper.agent.csi;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Deadlines;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the node's drivers to the API: its CSINode, and the annotation and labels of the Node. Confined to its client's loop.
 */
public final class CsiNodes {
    private static final Logger log = LoggerFactory.getLogger(CsiNodes.class);
    /** Kubernetes' message until the CSINode could be written. */
    static final String NOT_YET = "CSINode is not yet initialized";
    /** How long the Node is awaited before the next look. */
    private static final Duration NODE_PAUSE = Duration.ofMillis(100);
    /** Between attempts to write the first CSINode. A kubelet gives up after 140 s and ends; this agent goes on. */
    private static final Backoff FIRST = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(10));
    /** The kubelet's tries of an update, and the pause after the first one; each next pause is five times as long. */
    private static final int TRIES = 4;

    private static final Duration PAUSE = Duration.ofMillis(10);
    private static final int FACTOR = 5;

    private final String name;
    private final KubeClient client;
    private final Supplier<Optional<Node>> node;
    private Optional<String> fault = Optional.of(NOT_YET);
    private Runnable written = () -> {};
    private CompletableFuture<?> last = CompletableFuture.completedFuture(null);
    private boolean stopped;

    /**
     * Nothing is written yet.
     *
     * @param node the Node {@code name} as the API has it
     */
    public CsiNodes(String name, KubeClient client, Supplier<Optional<Node>> node) {
        this.name = name;
        this.client = client;
        this.node = node;
    }

    /**
     * Writes the CSINode, once there is a Node, and until that succeeds.
     *
     * @param written is called then
     */
    public void start(Runnable written) {
        this.written = written;
        first(0);
    }

    /** Starts no further attempt. */
    public void stop() {
        stopped = true;
    }

    /** Why the node cannot use volumes yet; empty once its CSINode is in the API. */
    public Optional<String> fault() {
        return fault;
    }

    private void first(int failures) {
        if (stopped) {
            return;
        }
        Optional<Node> known = node.get();
        if (known.isEmpty()) {
            client.loop().schedule(NODE_PAUSE, () -> first(failures));
            return;
        }
        existing(known.get()).whenComplete((object, error) -> {
            if (error == null) {
                fault = Optional.empty();
                written.run();
                return;
            }
            fault = Optional.of("failed to initialize CSINode: " + Failures.text(error));
            log.error("The node is not ready for volumes: {}", fault.get());
            client.loop().schedule(FIRST.delay(failures), () -> first(failures + 1));
        });
    }

    /** Adds a driver. Changes come one after another. */
    CompletableFuture<Void> add(String driver, PluginCall.NodeInfo info) {
        if (info.nodeId().isEmpty()) {
            return CompletableFuture.failedFuture(
                    new IllegalStateException("error adding CSI driver node info: driverNodeID must not be empty"));
        }
        return change(
                stored -> NodeIds.adding(stored, driver, info), object -> CsiNodeObject.with(object, driver, info));
    }

    /** Removes a driver. */
    CompletableFuture<Void> remove(String driver) {
        return change(stored -> NodeIds.removing(stored, driver), object -> CsiNodeObject.without(object, driver));
    }

    private CompletableFuture<Void> change(Function<Node, JsonObject> patch, UnaryOperator<JsonObject> drivers) {
        CompletableFuture<Void> changed = last.handle((done, error) -> tried(
                                "error updating Node object with CSI driver node info: ", () -> patchNode(patch))
                        .thenCompose(patched -> tried(
                                "error updating CSINode object with CSI driver node info: ", () -> update(drivers))))
                .thenCompose(started -> started);
        last = changed;
        return changed;
    }

    private CompletableFuture<Void> patchNode(Function<Node, JsonObject> patch) {
        return client.get(ResourceType.NODES, "", name).thenCompose(stored -> {
            JsonObject change = patch.apply(new Node(stored));
            return change.isEmpty()
                    ? CompletableFuture.completedFuture(null)
                    : client.patch(ResourceType.NODES, "", name, "status", PatchType.STRATEGIC, change)
                            .thenAccept(patched -> {});
        });
    }

    private CompletableFuture<Void> update(UnaryOperator<JsonObject> drivers) {
        return client.get(ResourceType.NODES, "", name)
                .thenCompose(stored -> existing(new Node(stored)))
                .thenCompose(object -> {
                    JsonObject next = drivers.apply(object);
                    return next.equals(object)
                            ? CompletableFuture.completedFuture(null)
                            : client.update(StorageTypes.CSI_NODES, "", name, next)
                                    .thenAccept(updated -> {});
                });
    }

    /** The CSINode, which is made if it is missing. */
    private CompletableFuture<JsonObject> existing(Node owner) {
        return client.get(StorageTypes.CSI_NODES, "", name)
                .exceptionallyCompose(error -> Failures.isCode(error, 404)
                        ? client.create(StorageTypes.CSI_NODES, "", CsiNodeObject.first(owner))
                        : CompletableFuture.failedFuture(Failures.cause(error)));
    }

    private CompletableFuture<Void> tried(String what, Supplier<CompletableFuture<Void>> attempt) {
        return again(attempt, 1, PAUSE)
                .exceptionallyCompose(error -> CompletableFuture.failedFuture(
                        new IllegalStateException(what + Failures.text(error), Failures.cause(error))));
    }

    private CompletableFuture<Void> again(Supplier<CompletableFuture<Void>> attempt, int tries, Duration pause) {
        return attempt.get()
                .exceptionallyCompose(error -> tries == TRIES || stopped
                        ? CompletableFuture.failedFuture(Failures.cause(error))
                        : Deadlines.sleep(client.loop(), pause)
                                .thenCompose(waited -> again(attempt, tries + 1, pause.multipliedBy(FACTOR))));
    }
}
