package io.nodekeeper.agent.registration;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.agent.status.StatusPatch;
import io.nodekeeper.agent.status.StatusResult;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the node's object, or reconciles an existing one, and retries until that succeeds. Confined to its client's
 * loop.
 */
public final class Registration {
    private static final Logger log = LoggerFactory.getLogger(Registration.class);
    /** Kubernetes' pauses; the first attempt waits, too. */
    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(7));

    /** The result of the registration. */
    public enum Outcome {
        /** The Node is new. */
        CREATED,
        /** The Node existed already. */
        EXISTED
    }

    private final AgentConfig config;
    private final KubeClient client;
    private final Supplier<StatusResult> initialNode;
    private final Consumer<StatusResult> created;
    private final BooleanSupplier deviceCheckpoint;
    private boolean stopped;

    /**
     * A registration that is not started yet.
     *
     * @param initialNode builds the Node for each attempt
     * @param created receives the Node after its creation
     * @param deviceCheckpoint whether the devices' state of an earlier run exists; without it, extended resources of an existing
     *     Node count as lost
     */
    public Registration(
            AgentConfig config,
            KubeClient client,
            Supplier<StatusResult> initialNode,
            Consumer<StatusResult> created,
            BooleanSupplier deviceCheckpoint) {
        this.config = config;
        this.client = client;
        this.initialNode = initialNode;
        this.created = created;
        this.deviceCheckpoint = deviceCheckpoint;
    }

    /** Tries until the node is registered; never completes if stopped before. */
    public CompletableFuture<Outcome> run() {
        CompletableFuture<Outcome> done = new CompletableFuture<>();
        attemptLater(0, done);
        return done;
    }

    /** Starts no further attempt. */
    public void stop() {
        stopped = true;
    }

    private void attemptLater(int failures, CompletableFuture<Outcome> done) {
        client.loop().schedule(BACKOFF.delay(failures), () -> {
            if (stopped) {
                return;
            }
            attempt().whenComplete((outcome, error) -> {
                if (error == null) {
                    log.info(
                            outcome == Outcome.CREATED
                                    ? "Successfully registered node {}"
                                    : "Node {} was registered already",
                            config.nodeName());
                    done.complete(outcome);
                } else {
                    log.error(
                            "Unable to register node with API server: node {}: {}; trying again in {}",
                            config.nodeName(),
                            Failures.text(error),
                            GoDuration.format(BACKOFF.delay(failures + 1)));
                    attemptLater(failures + 1, done);
                }
            });
        });
    }

    private CompletableFuture<Outcome> attempt() {
        StatusResult initial = initialNode.get();
        initial.errors().forEach(error -> log.warn("Failed to set some node status fields: {}", error));
        return client.create(ResourceType.NODES, "", initial.node().json())
                .handle((stored, error) -> Optional.ofNullable(error))
                .thenCompose(error -> {
                    if (error.isEmpty()) {
                        created.accept(initial);
                        return CompletableFuture.completedFuture(Outcome.CREATED);
                    }
                    boolean exists = Failures.isReason(error.get(), 409, "AlreadyExists");
                    boolean forbidden = Failures.isCode(error.get(), 403)
                            && !config.gates().has(AgentFeature.KUBELET_REGISTRATION_GET_ON_EXISTS_ONLY);
                    return exists || forbidden
                            ? reconcile(initial.node())
                            : CompletableFuture.failedFuture(Failures.cause(error.get()));
                });
    }

    private CompletableFuture<Outcome> reconcile(Node initial) {
        return client.get(ResourceType.NODES, "", config.nodeName()).thenCompose(stored -> {
            Node existing = new Node(stored);
            Optional<Node> wanted = NodeReconciler.apply(existing, initial, deviceCheckpoint.getAsBoolean());
            if (wanted.isEmpty()) {
                return CompletableFuture.completedFuture(Outcome.EXISTED);
            }
            return client.patch(
                            ResourceType.NODES,
                            "",
                            config.nodeName(),
                            "status",
                            PatchType.STRATEGIC,
                            StatusPatch.between(existing, wanted.get()))
                    .thenApply(patched -> Outcome.EXISTED);
        });
    }
}
