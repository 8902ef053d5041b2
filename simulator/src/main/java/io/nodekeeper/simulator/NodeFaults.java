package io.nodekeeper.simulator;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.cluster.SimCluster;
import io.nodekeeper.simulator.cluster.SimController;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * Injects random faults into nodes: they crash, freeze, lose their connection or their messages, and recover; their
 * Node objects are deleted, and created again by the agent or by an administrator. Confined to virtual time.
 */
final class NodeFaults {
    private static final long HOUR_NANOS = Duration.ofHours(1).toNanos();
    /**
     * A Node is replaced about the time of its deadline, when it may be under judgement: from this long before the
     * grace after the crash has passed, because the last renewal was up to 10 s before the crash.
     */
    private static final Duration BEFORE_GRACE = Duration.ofSeconds(11);
    /** Until this long after that time. */
    private static final Duration AFTER_GRACE = Duration.ofSeconds(1);
    /** How long controllers receive no events of nodes when one is replaced: longer than a judgement takes. */
    private static final Duration UNHEARD = Duration.ofSeconds(3);

    private final SimCluster cluster;
    private final RandomRunOptions options;
    private final RandomGenerator random;
    private final KubeClient admin;
    private long outages;

    NodeFaults(SimCluster cluster, RandomRunOptions options, RandomGenerator random, KubeClient admin) {
        this.cluster = cluster;
        this.options = options;
        this.random = random;
        this.admin = admin;
    }

    /** The number of faults. */
    long outages() {
        return outages;
    }

    /** Schedules a fault after a random time, and then the next. */
    void next() {
        long wait = (long) (random.nextExponential() * HOUR_NANOS / options.crashesPerHour());
        cluster.later(Duration.ofNanos(wait), () -> {
            strike("n" + random.nextInt(options.nodes()));
            next();
        });
    }

    private void strike(String node) {
        double share = random.nextDouble();
        double moment = random.nextDouble();
        int kind = random.nextInt(10);
        if (!cluster.isHealthy(node)) {
            return;
        }
        outages++;
        Duration outage = Outages.duration(share);
        switch (kind) {
            case 0 -> {
                cluster.freeze(node);
                cluster.later(outage, () -> cluster.thaw(node));
            }
            case 1 -> {
                cluster.cut(node);
                cluster.later(outage, () -> cluster.heal(node));
            }
            case 2 -> {
                cluster.silence(node);
                cluster.later(outage, () -> cluster.heal(node));
            }
            case 3 -> delete(node);
            case 4 -> {
                crash(node, outage);
                cluster.later(Duration.ofNanos((long) (outage.toNanos() * moment)), () -> delete(node));
            }
            case 5 -> replace(node, outage, moment);
            default -> crash(node, outage);
        }
    }

    private void crash(String node, Duration outage) {
        cluster.crash(node);
        cluster.later(outage, () -> cluster.restart(node));
    }

    /** Deletes the Node; fails if there is none, or the API server cannot be reached. */
    private CompletableFuture<Void> delete(String node) {
        return admin.delete(ResourceType.NODES, "", node, JsonObject.EMPTY)
                .thenAccept(deleted -> cluster.trace().add(node, "is deleted"));
    }

    /** Creates the Node as an administrator. */
    private CompletableFuture<Void> create(String node, JsonObject status) {
        JsonObject object = JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("name", node))
                .with("status", status);
        return admin.create(ResourceType.NODES, "", object)
                .thenAccept(created ->
                        cluster.trace().add(node, status.isEmpty() ? "is created by hand" : "is restored by hand"));
    }

    /**
     * Replaces a dead node's object by another one of its name, about which the controllers are notified late. Every
     * other one is restored with the previous status, if that is Ready, as from a backup: no node of its UID has been
     * silent.
     */
    private void replace(String node, Duration outage, double moment) {
        // Not that of the options: faults are the same for all configurations.
        Duration deadline = ControllerConfig.DEFAULT.nodeMonitorGracePeriod();
        Duration at = deadline.minus(BEFORE_GRACE)
                .plusNanos((long) (moment * BEFORE_GRACE.plus(AFTER_GRACE).toNanos()));
        boolean restored = outages % 2 == 0;
        crash(node, outage.plus(at).plus(UNHEARD));
        cluster.later(at, () -> {
            for (int number = 1; number <= options.controllers(); number++) {
                cluster.stallWatch(SimController.name(number), ResourceType.NODES.plural());
            }
            admin.get(ResourceType.NODES, "", node)
                    .handle((old, error) ->
                            error == null && restored && isReady(old) ? old.object("status") : JsonObject.EMPTY)
                    // One after the other: calls of one moment may overtake each other.
                    .thenCompose(status -> delete(node).thenCompose(gone -> create(node, status)));
        });
        cluster.later(at.plus(UNHEARD), () -> {
            for (int number = 1; number <= options.controllers(); number++) {
                cluster.resumeWatch(SimController.name(number), ResourceType.NODES.plural());
            }
        });
    }

    private static boolean isReady(JsonObject node) {
        return new Node(node).ready().map(Condition::status).equals(Optional.of(Condition.TRUE));
    }
}
