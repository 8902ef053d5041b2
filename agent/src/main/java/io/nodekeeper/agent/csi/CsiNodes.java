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
import io.nodekeeper.time.Futures;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the node's drivers to the API: its CSINode, and the annotation and labels of the Node; again if the Node was deleted and
 * registered again. Confined to its client's loop.
 */
public final class CsiNodes {
    private static final Logger log = LoggerFactory.getLogger(CsiNodes.class);
    /** Kubernetes' message until the CSINode could be written. */
    static final String NOT_YET = "CSINode is not yet initialized";
    /** How long the Node is awaited before the next look. */
    private static final Duration NODE_PAUSE = Duration.ofMillis(100);
    /**
     * Between attempts to write the first CSINode, and the drivers of a Node that was registered again. A kubelet gives up after 140 s and
     * ends; this agent goes on.
     */
    private static final Backoff FIRST = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(10));
    /** The kubelet's tries of an update, and the pause after the first one; each next pause is five times as long. */
    private static final int TRIES = 4;

    private static final Duration PAUSE = Duration.ofMillis(10);
    private static final int FACTOR = 5;

    private final String name;
    private final KubeClient client;
    private final Supplier<Optional<Node>> node;
    /** What each registered driver said about the node, by its name: as many as there are plugins. */
    private final Map<String, PluginCall.NodeInfo> drivers = new LinkedHashMap<>();

    /** The UID of the Node that was registered last; empty until it is known. */
    private Optional<String> uid = Optional.empty();
    /** Counts Nodes: attempts for an earlier one end. */
    private int round;

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
        first(round, 0);
    }

    /**
     * The API has the Node with {@code now} as its UID. If it had another one before, the Node was deleted and registered again: what it
     * showed of drivers is lost, and its CSINode ends with the old one.
     */
    public void registered(String now) {
        if (now.isEmpty()) {
            return;
        }
        boolean again = uid.isPresent() && !uid.get().equals(now);
        uid = Optional.of(now);
        if (again && !stopped) {
            log.info("Node {} is registered again; writing its CSINode and {} CSI drivers again", name, drivers.size());
            first(++round, 0);
        }
    }

    /** Starts no further attempt. */
    public void stop() {
        stopped = true;
    }

    /** Why the node cannot use volumes yet; empty once its CSINode is in the API. */
    public Optional<String> fault() {
        return fault;
    }

    private void first(int of, int failures) {
        if (stopped || of != round) {
            return;
        }
        Optional<String> owner = uid.or(() -> node.get().map(Node::uid));
        if (owner.isEmpty()) {
            client.loop().schedule(NODE_PAUSE, () -> first(of, failures));
            return;
        }
        // From now on, as the Node may be registered again during the write.
        uid = owner;
        // The one that is registered again is asked for: the cache may still have the deleted one.
        CompletableFuture<Void> attempt =
                inTurn(() -> of == 0 ? write(owner.get(), UnaryOperator.identity()) : update(UnaryOperator.identity()));
        attempt.whenComplete((done, error) -> {
            if (of != round) {
                return;
            }
            if (error == null) {
                fault = Optional.empty();
                written.run();
                if (of > 0) {
                    List.copyOf(drivers.keySet()).forEach(driver -> addAgain(driver, of, 0));
                }
                return;
            }
            fault = Optional.of("failed to initialize CSINode: " + Failures.text(error));
            log.error("The node is not ready for volumes: {}", fault.get());
            client.loop().schedule(FIRST.delay(failures), () -> first(of, failures + 1));
        });
    }

    private void addAgain(String driver, int of, int failures) {
        PluginCall.NodeInfo info = drivers.get(driver);
        if (stopped || of != round || info == null) {
            return;
        }
        show(driver, info).whenComplete((done, error) -> {
            if (error != null) {
                log.error("The API does not show CSI driver {} again yet: {}", driver, Failures.text(error));
                client.loop().schedule(FIRST.delay(failures), () -> addAgain(driver, of, failures + 1));
            }
        });
    }

    /** Adds a driver. Changes come one after another. */
    CompletableFuture<Void> add(String driver, PluginCall.NodeInfo info) {
        if (info.nodeId().isEmpty()) {
            return CompletableFuture.failedFuture(
                    new IllegalStateException("error adding CSI driver node info: driverNodeID must not be empty"));
        }
        // Before the first try: the Node may be registered again meanwhile.
        drivers.put(driver, info);
        return show(driver, info).whenComplete((done, error) -> {
            if (error != null) {
                // It is not registered, and will be added again.
                drivers.remove(driver, info);
            }
        });
    }

    private CompletableFuture<Void> show(String driver, PluginCall.NodeInfo info) {
        return change(
                stored -> NodeIds.adding(stored, driver, info), object -> CsiNodeObject.with(object, driver, info));
    }

    /** Removes a driver. */
    CompletableFuture<Void> remove(String driver) {
        drivers.remove(driver);
        return change(stored -> NodeIds.removing(stored, driver), object -> CsiNodeObject.without(object, driver));
    }

    private CompletableFuture<Void> change(Function<Node, JsonObject> patch, UnaryOperator<JsonObject> changes) {
        return inTurn(() -> tried("error updating Node object with CSI driver node info: ", () -> patchNode(patch))
                .thenCompose(patched ->
                        tried("error updating CSINode object with CSI driver node info: ", () -> update(changes))));
    }

    /** Changes come one after another. */
    private CompletableFuture<Void> inTurn(Supplier<CompletableFuture<Void>> attempt) {
        CompletableFuture<Void> changed = Futures.after(last, attempt);
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

    private CompletableFuture<Void> update(UnaryOperator<JsonObject> changes) {
        return client.get(ResourceType.NODES, "", name).thenCompose(stored -> write(new Node(stored).uid(), changes));
    }

    /** Changes the CSINode, and makes it that of the Node with the UID {@code owner}. */
    private CompletableFuture<Void> write(String owner, UnaryOperator<JsonObject> changes) {
        return existing(owner).thenCompose(object -> {
            JsonObject next = changes.apply(CsiNodeObject.ownedBy(object, owner));
            return next.equals(object)
                    ? CompletableFuture.completedFuture(null)
                    : client.update(StorageTypes.CSI_NODES, "", name, next).thenAccept(updated -> {});
        });
    }

    /** The CSINode, which is made if it is missing. */
    private CompletableFuture<JsonObject> existing(String owner) {
        return client.get(StorageTypes.CSI_NODES, "", name)
                .exceptionallyCompose(error -> Failures.isCode(error, 404)
                        ? client.create(StorageTypes.CSI_NODES, "", CsiNodeObject.first(name, owner))
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
