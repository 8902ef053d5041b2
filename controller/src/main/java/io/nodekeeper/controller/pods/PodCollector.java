package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pod garbage collector: deletes finished pods beyond a threshold, terminating pods without a node or of nodes that
 * are out of service, and pods of deleted nodes. A deletion may wait long in the queue, so it first checks its reason
 * again against the current node and pod in the API. Confined to the loop.
 */
final class PodCollector {
    /** Why a pod is collected, in the words of kube-controller-manager's metric. */
    private enum Reason {
        TERMINATED("terminated"),
        OUT_OF_SERVICE("out-of-service"),
        ORPHANED("orphaned"),
        UNSCHEDULED("unscheduled");

        private final String text;

        Reason(String text) {
            this.text = text;
        }
    }

    private static final Logger log = LoggerFactory.getLogger(PodCollector.class);
    /** How long a node must be missing before its pods are checked (Kubernetes' value). */
    private static final long QUARANTINE = Duration.ofSeconds(40).toNanos();
    /**
     * How long to wait before a deletion that the server accepted is repeated. The server removes a pod with finalizers itself once they
     * are removed. It needs a second deletion only if it has lost the first one, as after a restore. A thousand such pods cost two
     * deletions a second. kube-controller-manager repeats the deletion in each pass.
     */
    private static final long REPEAT = Duration.ofMinutes(10).toNanos();

    /** The result of a live read if the reason no longer holds. */
    private static final Optional<JsonObject> NOT_DUE = Optional.empty();

    private final WorkloadConfig config;
    private final Clock clock;
    private final PodCache cache;
    private final PodWrites writes;
    private final NodeReads reads;
    private final PodReport report;
    private final ControllerMetrics metrics;
    /** At most one check for each node. */
    private final KeyedJobs<HostNode, KeyedJobs.Job> nodeJobs;
    /** At most one deletion for each pod. */
    private final KeyedJobs<TrackedPod, KeyedJobs.Job> podJobs;

    PodCollector(
            WorkloadConfig config,
            Loop loop,
            PriorityWorkQueue workQueue,
            PodCache cache,
            PodWrites writes,
            NodeReads reads,
            PodReport report,
            ControllerMetrics metrics) {
        this.config = config;
        this.clock = loop.clock();
        this.cache = cache;
        this.writes = writes;
        this.reads = reads;
        this.report = report;
        this.metrics = metrics;
        this.nodeJobs = new KeyedJobs<>(
                "Collection of pods of the node", workQueue, PriorityWorkQueue.Priority.COLLECTION, loop);
        this.podJobs = new KeyedJobs<>("Collection of the pod", workQueue, PriorityWorkQueue.Priority.COLLECTION, loop);
    }

    /**
     * One pass; {@code now} is monotonic, as {@link HostNode#missingSince}. Skips nodes and pods with a running job.
     */
    void run(long now) {
        for (TrackedPod pod : surplus()) {
            collect(pod, Reason.TERMINATED);
        }
        for (HostNode node : List.copyOf(cache.nodes())) {
            if (node.name.isEmpty()) {
                collect(terminating(node), Reason.UNSCHEDULED);
            } else if (isOut(node)) {
                if (!terminating(node).isEmpty()) {
                    nodeJobs.submit(node, () -> outOfService(node));
                }
            } else if (!node.known
                    && now - node.missingSince >= QUARANTINE
                    && !due(node).isEmpty()) {
                nodeJobs.submit(node, () -> orphaned(node, now));
            }
        }
    }

    /** The number of node checks and pod deletions that wait or run. */
    Map<String, Integer> sizes() {
        return Map.of("collected nodes", nodeJobs.size(), "collected pods", podJobs.size());
    }

    /** The finished pods beyond the threshold: first those that nodes evicted, then the oldest, as in Kubernetes. */
    private List<TrackedPod> surplus() {
        int threshold = config.terminatedPodGcThreshold();
        if (threshold <= 0 || cache.finished() <= threshold) {
            return List.of();
        }
        return cache.pods().stream()
                .filter(pod -> pod.finished && !pod.terminating)
                .sorted(Comparator.<TrackedPod, Boolean>comparing(pod -> !pod.evicted)
                        .thenComparingLong(pod -> pod.created)
                        .thenComparing(pod -> pod.namespace)
                        .thenComparing(pod -> pod.name))
                .limit(cache.finished() - threshold)
                .toList();
    }

    private List<TrackedPod> terminating(HostNode node) {
        return due(node).stream().filter(pod -> pod.terminating).toList();
    }

    /** The pods of the node whose deletion was not accepted lately. */
    private List<TrackedPod> due(HostNode node) {
        return cache.pods(node).stream().filter(this::isDue).toList();
    }

    private boolean isDue(TrackedPod pod) {
        return pod.collectedAt == HostNode.NO_TIME || clock.nanoTime() - pod.collectedAt >= REPEAT;
    }

    private CompletionStage<KeyedJobs.Next> outOfService(HostNode node) {
        CompletableFuture<Boolean> confirmed = config.observerGuard()
                ? reads.at(node).thenApply(live -> live.isPresent() && isOut(live.get()))
                : CompletableFuture.completedFuture(true);
        return confirmed.handle((out, error) -> {
            if (error != null || !out) {
                log.info(
                        "Node {}: cannot confirm that it is out of service: {}",
                        node,
                        error == null ? "it is not" : Failures.text(error));
            } else {
                collect(terminating(node), Reason.OUT_OF_SERVICE);
            }
            return new KeyedJobs.Next.Done();
        });
    }

    private static boolean isOut(Node node) {
        return !node.isReady() && HostNode.isOutOfService(node);
    }

    private static boolean isOut(HostNode node) {
        return node.known && node.outOfService && !node.ready.equals(Condition.TRUE);
    }

    private CompletionStage<KeyedJobs.Next> orphaned(HostNode node, long now) {
        return reads.fresh(node.name).handle((live, error) -> {
            if (error != null) {
                log.info(
                        "Reading node {} of {} pods failed: {}",
                        node,
                        cache.pods(node).size(),
                        Failures.text(error));
            } else if (live.isPresent()) {
                // The watch is late, or the node is new.
                node.missingSince = now;
            } else if (!node.known) {
                collect(due(node), Reason.ORPHANED);
            }
            return new KeyedJobs.Next.Done();
        });
    }

    private void collect(List<TrackedPod> pods, Reason reason) {
        pods.forEach(pod -> collect(pod, reason));
    }

    private void collect(TrackedPod pod, Reason reason) {
        if (isDue(pod)) {
            podJobs.submit(pod, () -> force(pod, reason));
        }
    }

    /** One attempt; after a failure the next pass finds the pod again. */
    private CompletionStage<KeyedJobs.Next> force(TrackedPod pod, Reason reason) {
        CompletableFuture<Optional<JsonObject>> due = config.observerGuard()
                ? stillDue(pod, reason)
                : CompletableFuture.completedFuture(cache.isCurrent(pod) ? Optional.of(JsonObject.EMPTY) : NOT_DUE);
        return due.thenCompose(live -> live.isPresent()
                        ? writes.forceDelete(pod, live.get(), why(reason))
                        : CompletableFuture.completedFuture(false))
                .handle((deleted, error) -> {
                    if (error != null) {
                        metrics.forceDeleteFailed(pod.namespace, reason.text);
                        log.warn("Collecting pod {} ({}) failed: {}", pod, reason.text, Failures.text(error));
                    } else if (deleted) {
                        collected(pod, reason);
                    }
                    return new KeyedJobs.Next.Done();
                });
    }

    private Optional<JsonObject> why(Reason reason) {
        return reason == Reason.ORPHANED
                ? Optional.of(writes.disruption("DeletionByPodGC", "PodGC: node no longer exists"))
                : Optional.empty();
    }

    /** The server accepted the deletion; that is reported once. */
    private void collected(TrackedPod pod, Reason reason) {
        boolean again = pod.collectedAt != HostNode.NO_TIME;
        pod.collectedAt = clock.nanoTime();
        if (again) {
            return;
        }
        metrics.forceDeleted(pod.namespace, reason.text);
        log.info("Pod {} (uid {}) of node {} collected: {}", pod, pod.uid, pod.node, reason.text);
        report.decided(
                pod,
                "Collected",
                "Pod " + pod + " was deleted immediately: " + reason.text,
                JsonObject.EMPTY.with("reason", reason.text));
    }

    /** The current pod in the API, if {@code reason} still holds for it and its node. */
    private CompletableFuture<Optional<JsonObject>> stillDue(TrackedPod pod, Reason reason) {
        if (!cache.isCurrent(pod) || !holds(pod, reason)) {
            return CompletableFuture.completedFuture(NOT_DUE);
        }
        CompletableFuture<Boolean> node = switch (reason) {
            case TERMINATED, UNSCHEDULED -> CompletableFuture.completedFuture(true);
            case OUT_OF_SERVICE ->
                reads.at(pod.node)
                        .thenApply(live -> live.filter(PodCollector::isOut).isPresent());
            case ORPHANED -> reads.at(pod.node).thenApply(Optional::isEmpty);
        };
        return node.thenCompose(due -> due ? writes.live(pod) : CompletableFuture.completedFuture(NOT_DUE))
                .thenApply(live -> live.filter(json -> holds(pod, reason) && isSeen(json, pod, reason)));
    }

    /** Whether the reason still holds for the state from the watches. */
    private boolean holds(TrackedPod pod, Reason reason) {
        return switch (reason) {
            case TERMINATED -> pod.finished && !pod.terminating && cache.finished() > config.terminatedPodGcThreshold();
            case UNSCHEDULED -> pod.terminating && pod.node.name.isEmpty();
            case OUT_OF_SERVICE -> pod.terminating && isOut(pod.node);
            case ORPHANED -> !pod.node.known && !pod.node.name.isEmpty();
        };
    }

    /** Whether the reason holds for the live pod. */
    private static boolean isSeen(JsonObject live, TrackedPod pod, Reason reason) {
        boolean terminating = live.object("metadata").has("deletionTimestamp");
        return live.object("spec").text("nodeName").equals(pod.node.name)
                && switch (reason) {
                    case TERMINATED -> PodParts.isFinished(live) && !terminating;
                    case UNSCHEDULED, OUT_OF_SERVICE -> terminating;
                    case ORPHANED -> true;
                };
    }
}
