package io.nodekeeper.agent.heartbeat;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the node's lease. It does not depend on the node's health and waits only for the API server. Confined to its
 * client's loop.
 */
public final class LeaseRenewer {
    private static final Logger log = LoggerFactory.getLogger(LeaseRenewer.class);
    /** Kubernetes' shortest and longest pause between attempts to read or create the lease. */
    private static final Duration ENSURE_SOON = Duration.ofMillis(200);
    /** See {@link #ENSURE_SOON}. */
    private static final Duration ENSURE_LATE = Duration.ofSeconds(7);
    /** Kubernetes' jitter on the interval. */
    private static final double JITTER = 0.04;

    private final AgentConfig config;
    private final KubeClient client;
    private final Loop loop;
    private final RandomGenerator random;
    private final Runnable onRepeatedFailure;
    private final Runnable beat;
    private final LeaseBuilder rule;
    private final Backoff ensure;
    private Optional<Lease> held = Optional.empty();
    private CompletableFuture<Void> running = CompletableFuture.completedFuture(null);
    private @Nullable Periodic periodic;
    private boolean stopped;

    /**
     * A renewer that is not started yet.
     *
     * @param onRepeatedFailure called after each failed attempt except the first of a round
     * @param beat called before each attempt
     */
    public LeaseRenewer(
            AgentConfig config, KubeClient client, RandomGenerator random, Runnable onRepeatedFailure, Runnable beat) {
        this.config = config;
        this.client = client;
        this.loop = client.loop();
        this.random = random;
        this.onRepeatedFailure = onRepeatedFailure;
        this.beat = beat;
        this.rule = new LeaseBuilder(config.nodeName(), config.nodeLeaseDurationSeconds());
        // With a short lease, 7 s may be the whole grace period: the pause is never longer than the renewal interval.
        Duration cap = Collections.min(List.of(ENSURE_LATE, config.leaseInterval()));
        this.ensure = new Backoff(ENSURE_SOON, Collections.max(List.of(ENSURE_SOON, cap)));
    }

    /** Starts to renew, immediately and then every quarter of the lease's duration; false if it was started before. */
    public boolean start() {
        if (periodic != null || stopped) {
            return false;
        }
        periodic = Periodic.start(
                "lease of " + config.nodeName(), loop, config.leaseInterval(), JITTER, random, this::renewNow);
        return true;
    }

    /** Stops; a call in progress completes. */
    public void stop() {
        stopped = true;
        if (periodic != null) {
            periodic.stop();
        }
    }

    /** Runs a round now, after the one in progress if there is one. */
    public CompletableFuture<Void> renewNow() {
        running = running.isDone() ? round() : running.thenCompose(done -> round());
        return running;
    }

    private CompletableFuture<Void> round() {
        if (held.isEmpty()) {
            return ensureAndUpdate();
        }
        return update(held.get(), 0).thenCompose(updated -> {
            if (updated || stopped) {
                return done();
            }
            log.info("{}: failed to update lease using latest lease, fallback to ensure lease", config.nodeName());
            return ensureAndUpdate();
        });
    }

    private CompletableFuture<Void> ensureAndUpdate() {
        return ensure(0).thenCompose(ensured -> {
            held = ensured.lease();
            if (ensured.created() || ensured.lease().isEmpty()) {
                return done();
            }
            return update(ensured.lease().get(), 0).thenAccept(updated -> {
                if (!updated && !stopped) {
                    log.error(
                            "{}: Will retry updating lease in {}",
                            config.nodeName(),
                            GoDuration.format(config.leaseInterval()));
                }
            });
        });
    }

    /** The lease that was read or created; none if it could not be created because the Node does not exist yet. */
    private record Ensured(Optional<Lease> lease, boolean created) {}

    private CompletableFuture<Ensured> ensure(int failures) {
        beat.run();
        if (stopped) {
            return CompletableFuture.completedFuture(new Ensured(Optional.empty(), false));
        }
        CompletableFuture<Ensured> look = client.get(ResourceType.LEASES, Lease.NODE_NAMESPACE, config.nodeName())
                .handle((lease, error) -> {
                    if (error == null) {
                        return CompletableFuture.completedFuture(new Ensured(Optional.of(new Lease(lease)), false));
                    }
                    return Failures.isCode(error, 404)
                            ? create()
                            : CompletableFuture.<Ensured>failedFuture(Failures.cause(error));
                })
                .thenCompose(next -> next);
        return look.handle((ensured, error) -> {
                    if (error == null) {
                        return CompletableFuture.completedFuture(ensured);
                    }
                    Duration wait = ensure.delay(failures);
                    log.error(
                            "{}: Failed to ensure lease exists, will retry in {}: {}",
                            config.nodeName(),
                            GoDuration.format(wait),
                            Failures.text(error));
                    return Deadlines.sleep(loop, wait).thenCompose(waited -> ensure(failures + 1));
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Ensured> create() {
        return owner().handle((node, error) -> {
                    if (error != null) {
                        // The Node does not exist yet: the next round, or the end of the registration, tries again.
                        log.debug("{}: no lease yet: {}", config.nodeName(), Failures.text(error));
                        return CompletableFuture.completedFuture(new Ensured(Optional.empty(), false));
                    }
                    return client.create(
                                    ResourceType.LEASES,
                                    Lease.NODE_NAMESPACE,
                                    rule.create(node, loop.clock().wallTime()))
                            .thenApply(lease -> new Ensured(Optional.of(new Lease(lease)), true));
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Boolean> update(Lease base, int index) {
        beat.run();
        if (stopped) {
            return CompletableFuture.completedFuture(false);
        }
        if (index == RetryPause.TRIES) {
            log.error("{}: failed {} attempts to update lease", config.nodeName(), index);
            return CompletableFuture.completedFuture(false);
        }
        return put(base)
                .handle((lease, error) -> {
                    if (error == null) {
                        held = Optional.of(new Lease(lease));
                        return CompletableFuture.completedFuture(true);
                    }
                    return failed(base, index, error);
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Boolean> failed(Lease base, int index, Throwable error) {
        if (Failures.isCode(error, 409)) {
            log.info("{}: Failed to update lease: {}", config.nodeName(), Failures.text(error));
            return ensure(0)
                    .thenCompose(ensured -> ensured.lease().isEmpty()
                            ? CompletableFuture.completedFuture(false)
                            : update(ensured.lease().get(), index + 1));
        }
        log.error("{}: Failed to update lease: {}", config.nodeName(), Failures.text(error));
        if (Failures.isCode(error, 404)) {
            // The lease was deleted, most likely with its Node: it must be created again.
            held = Optional.empty();
            return CompletableFuture.completedFuture(false);
        }
        if (index >= 1) {
            onRepeatedFailure.run();
        }
        return Deadlines.sleep(loop, RetryPause.after(error, index, random))
                .thenCompose(waited -> update(base, index + 1));
    }

    private CompletableFuture<JsonObject> put(Lease base) {
        CompletableFuture<Optional<Node>> owner = LeaseBuilder.orphan(base)
                ? owner().thenApply(Optional::of)
                : CompletableFuture.completedFuture(Optional.empty());
        return owner.thenCompose(node -> client.update(
                ResourceType.LEASES,
                Lease.NODE_NAMESPACE,
                config.nodeName(),
                rule.renew(base, node, loop.clock().wallTime())));
    }

    private CompletableFuture<Node> owner() {
        return client.get(ResourceType.NODES, "", config.nodeName())
                .handle((node, error) -> error == null
                        ? CompletableFuture.completedFuture(new Node(node))
                        : CompletableFuture.<Node>failedFuture(new HeartbeatException(
                                "Failed to prepare lease: " + Failures.text(error), Failures.cause(error))))
                .thenCompose(next -> next);
    }

    private static CompletableFuture<Void> done() {
        return CompletableFuture.completedFuture(null);
    }
}
