package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes pods that nobody else will: too many finished ones, those that are being deleted on a node that is out of
 * service or on none, and those of nodes that are gone: the pod garbage collector. Confined to the loop.
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
    /** How long a node has to be missing before anybody asks for it (Kubernetes' value). */
    private static final long QUARANTINE = Duration.ofSeconds(40).toNanos();

    private final WorkloadConfig config;
    private final Lanes lanes;
    private final PodCache cache;
    private final PodWrites writes;
    private final NodeLooks looks;
    private final PodReport report;
    private final ControllerMetrics metrics;

    PodCollector(
            WorkloadConfig config,
            Lanes lanes,
            PodCache cache,
            PodWrites writes,
            NodeLooks looks,
            PodReport report,
            ControllerMetrics metrics) {
        this.config = config;
        this.lanes = lanes;
        this.cache = cache;
        this.writes = writes;
        this.looks = looks;
        this.report = report;
        this.metrics = metrics;
    }

    /** One pass; {@code now} is monotonic, as {@link HostNode#missingSince}. Ends when all of it is done. */
    CompletionStage<?> run(long now) {
        List<CompletableFuture<?>> jobs = new ArrayList<>();
        for (TrackedPod pod : surplus()) {
            jobs.add(job(() -> force(pod, Reason.TERMINATED)));
        }
        for (HostNode node : List.copyOf(cache.nodes())) {
            if (node.name.isEmpty()) {
                for (TrackedPod pod : terminating(node)) {
                    jobs.add(job(() -> force(pod, Reason.UNSCHEDULED)));
                }
            } else if (node.known && node.outOfService && !node.ready.equals(Condition.TRUE)) {
                List<TrackedPod> pods = terminating(node);
                if (!pods.isEmpty()) {
                    jobs.add(job(() -> outOfService(node, pods)));
                }
            } else if (!node.known && !node.pods.isEmpty() && now - node.missingSince >= QUARANTINE) {
                jobs.add(job(() -> orphaned(node, now)));
            }
        }
        return CompletableFuture.allOf(jobs.toArray(CompletableFuture[]::new));
    }

    /** The oldest of those finished pods that are too many. */
    private List<TrackedPod> surplus() {
        int threshold = config.terminatedPodGcThreshold();
        if (threshold <= 0 || cache.finished() <= threshold) {
            return List.of();
        }
        return cache.pods().stream()
                .filter(pod -> pod.finished && !pod.terminating)
                .sorted(Comparator.<TrackedPod>comparingLong(pod -> pod.created)
                        .thenComparing(pod -> pod.namespace)
                        .thenComparing(pod -> pod.name))
                .limit(cache.finished() - threshold)
                .toList();
    }

    private static List<TrackedPod> terminating(HostNode node) {
        return node.pods.stream().filter(pod -> pod.terminating).toList();
    }

    private CompletionStage<?> outOfService(HostNode node, List<TrackedPod> pods) {
        CompletableFuture<Boolean> confirmed = config.observerGuard()
                ? looks.at(node).thenApply(live -> live.isPresent() && isOut(live.get()))
                : CompletableFuture.completedFuture(true);
        return confirmed.handle((out, error) -> {
            if (error != null || !out) {
                log.info(
                        "Node {}: not seen to be out of service: {}",
                        node,
                        error == null ? "it is not" : Failures.text(error));
                return CompletableFuture.<Void>completedFuture(null);
            }
            return all(pods, Reason.OUT_OF_SERVICE);
        });
    }

    private static boolean isOut(Node node) {
        boolean ready = node.isReady();
        return !ready && HostNode.isOutOfService(node);
    }

    private CompletionStage<?> orphaned(HostNode node, long now) {
        return looks.fresh(node.name).handle((live, error) -> {
            if (error != null) {
                log.info("Node {} of {} pods not read: {}", node, node.pods.size(), Failures.text(error));
            } else if (live.isPresent()) {
                // The watch is late, or it has just come.
                node.missingSince = now;
            } else if (!node.known) {
                return all(List.copyOf(node.pods), Reason.ORPHANED);
            }
            return CompletableFuture.<Void>completedFuture(null);
        });
    }

    private CompletableFuture<Void> all(List<TrackedPod> pods, Reason reason) {
        return CompletableFuture.allOf(
                pods.stream().map(pod -> job(() -> force(pod, reason))).toArray(CompletableFuture[]::new));
    }

    private CompletionStage<?> force(TrackedPod pod, Reason reason) {
        if (!cache.isCurrent(pod)) {
            return CompletableFuture.completedStage(null);
        }
        Optional<JsonObject> why = reason == Reason.ORPHANED
                ? Optional.of(writes.disruption("DeletionByPodGC", "PodGC: node no longer exists"))
                : Optional.empty();
        return writes.forceDelete(pod, why).handle((deleted, error) -> {
            if (error != null) {
                metrics.forceDeleteFailed(pod.namespace, reason.text);
                log.warn("Pod {} not collected ({}): {}", pod, reason.text, Failures.text(error));
            } else if (deleted) {
                metrics.forceDeleted(pod.namespace, reason.text);
                log.info("Pod {} (uid {}) of node {} collected: {}", pod, pod.uid, pod.node, reason.text);
                report.decided(
                        pod,
                        "Collected",
                        "Pod " + pod + " was deleted at once: " + reason.text,
                        JsonObject.EMPTY.with("reason", reason.text));
            }
            return null;
        });
    }

    /** Has {@code job} done when its turn comes; the result never fails. */
    private CompletableFuture<?> job(Supplier<? extends CompletionStage<?>> job) {
        CompletableFuture<Object> done = new CompletableFuture<>();
        lanes.background(() -> {
            CompletionStage<?> stage = job.get();
            stage.whenComplete((value, error) -> {
                if (value instanceof CompletableFuture<?> more) {
                    // What follows waits for turns of its own, not with this one in hand.
                    more.whenComplete((last, failure) -> done.complete(this));
                } else {
                    done.complete(this);
                }
            });
            return stage;
        });
        return done;
    }
}
