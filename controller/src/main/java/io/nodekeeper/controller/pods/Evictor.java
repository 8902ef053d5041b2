package io.nodekeeper.controller.pods;

import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evicts pods that do not tolerate a NoExecute taint of their node, when their toleration ends: the taint-eviction
 * controller. Confined to the loop.
 */
final class Evictor {
    private static final Logger log = LoggerFactory.getLogger(Evictor.class);
    /** Kubernetes' tries and the wait between them. */
    private static final int TRIES = 5;
    /** See {@link #TRIES}. */
    private static final Duration TRY_WAIT = Duration.ofMillis(10);
    /** Between tries that go on until the pod is gone or may stay. Chosen. */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(30));
    /** When the API and the watch disagree about a node, the watch is late: look again after this. Chosen. */
    private static final long LOOK_AGAIN = Duration.ofSeconds(5).toNanos();

    private final WorkloadConfig config;
    private final Loop loop;
    private final RandomGenerator random;
    private final Lanes lanes;
    private final PodCache cache;
    private final PodWrites writes;
    private final NodeLooks looks;
    private final PodReport report;
    private final ControllerMetrics metrics;
    private final PodTimers timers;

    Evictor(
            WorkloadConfig config,
            Loop loop,
            RandomGenerator random,
            Lanes lanes,
            PodCache cache,
            PodWrites writes,
            NodeLooks looks,
            PodReport report,
            ControllerMetrics metrics) {
        this.config = config;
        this.loop = loop;
        this.random = random;
        this.lanes = lanes;
        this.cache = cache;
        this.writes = writes;
        this.looks = looks;
        this.report = report;
        this.metrics = metrics;
        this.timers = new PodTimers(loop, this::expired);
    }

    /** The clock of {@link ActiveTaint#since}. */
    long now() {
        return timers.now();
    }

    /** Something about {@code pod} or the taints of its node may have changed. */
    void review(TrackedPod pod) {
        if (pod.deleted || pod.eviction != null) {
            // A running eviction looks for itself before each step.
            return;
        }
        if (config.durableEviction() && (pod.terminating || pod.finished)) {
            timers.unset(pod);
            return;
        }
        if (!pod.node.known) {
            // The garbage collector's business. The reference lets its timers run.
            if (config.durableEviction()) {
                timers.unset(pod);
            }
            return;
        }
        switch (patience(pod, pod.node.taints)) {
            case Patience.Endless() -> cancel(pod);
            case Patience.None(ActiveTaint taint) -> {
                if (config.timeAddedEviction()) {
                    timers.unset(pod);
                } else {
                    cancel(pod);
                }
                begin(pod, timers.now());
            }
            case Patience.Until(long at, ActiveTaint taint) -> {
                if (at <= timers.now()) {
                    timers.unset(pod);
                    begin(pod, at);
                } else {
                    timers.set(pod, at);
                }
            }
        }
    }

    /** {@code pod} is gone. */
    void gone(TrackedPod pod) {
        if (timers.unset(pod) && !config.timeAddedEviction()) {
            report.cancelling(pod);
        }
    }

    /** No eviction begins any more. */
    void stop() {
        timers.stop();
    }

    private void expired(TrackedPod pod) {
        if (config.timeAddedEviction()) {
            review(pod);
        } else {
            begin(pod, timers.now());
        }
    }

    private Patience patience(TrackedPod pod, List<ActiveTaint> taints) {
        return config.timeAddedEviction()
                ? Patience.of(pod.tolerations, taints)
                : Patience.asReference(pod.tolerations, taints, timers.now(), timers.of(pod));
    }

    private void cancel(TrackedPod pod) {
        if (timers.unset(pod)) {
            report.cancelling(pod);
        }
    }

    private void begin(TrackedPod pod, long due) {
        if (pod.eviction == null && !pod.deleted) {
            Eviction eviction = new Eviction(pod, due);
            pod.eviction = eviction;
            lanes.background(eviction::attempt);
        }
    }

    /** One pod on its way out, over all tries. */
    final class Eviction {
        private final TrackedPod pod;
        private final long due;
        private boolean announced;
        private int failures;

        private Eviction(TrackedPod pod, long due) {
            this.pod = pod;
            this.due = due;
        }

        private CompletionStage<?> attempt() {
            if (lanes.isClosed()) {
                return end();
            }
            if (config.durableEviction() && !isDue(pod.node.taints)) {
                return reconsider();
            }
            CompletableFuture<Boolean> allowed =
                    config.observerGuard() ? looks.at(pod.node).thenApply(this::isDueOn) : completed(true);
            return allowed.thenCompose(due -> due ? evict().thenAccept(this::evicted) : postponed())
                    .exceptionally(error -> {
                        failed(error);
                        return null;
                    });
        }

        private CompletableFuture<Boolean> evict() {
            if (!announced) {
                announced = true;
                report.marking(pod);
            }
            if (!config.durableEviction()) {
                return writes.evictAsReference(pod);
            }
            CompletableFuture<Boolean> told = pod.disrupted ? completed(true) : writes.disrupt(pod);
            return told.thenCompose(there -> {
                pod.disrupted = there;
                return there ? writes.delete(pod) : completed(false);
            });
        }

        /** Whether the pod still has to leave a node with these taints. */
        private boolean isDue(List<ActiveTaint> taints) {
            boolean over = config.durableEviction() && (pod.terminating || pod.finished);
            if (over || !cache.isCurrent(pod) || !pod.node.known) {
                return false;
            }
            return switch (patience(pod, taints)) {
                case Patience.Endless() -> false;
                case Patience.None(ActiveTaint taint) -> true;
                // The reference's deadlines are not moved; this one has passed.
                case Patience.Until(long at, ActiveTaint taint) -> !config.timeAddedEviction() || at <= timers.now();
            };
        }

        private boolean isDueOn(Optional<Node> live) {
            HostNode node = pod.node;
            return live.isPresent()
                    && node.isSame(live.get())
                    && isDue(
                            ActiveTaint.of(live.get(), node.taints, loop.clock().wallTime(), timers.now()));
        }

        /** The live node does not ask for it; perhaps the watch has told so meanwhile. */
        private CompletableFuture<Void> postponed() {
            if (!isDue(pod.node.taints)) {
                return reconsider();
            }
            log.info("Pod {} stays for now: node {} is no longer as it was seen", pod, pod.node);
            timers.set(pod, timers.now() + LOOK_AGAIN);
            return end();
        }

        private CompletableFuture<Void> reconsider() {
            end();
            if (cache.isCurrent(pod)) {
                review(pod);
            }
            return CompletableFuture.completedFuture(null);
        }

        private void evicted(boolean accepted) {
            end();
            // The reference would evict it again.
            pod.deleted = config.durableEviction();
            if (!accepted) {
                log.debug("Pod {} was gone before its eviction", pod);
                return;
            }
            double late = (timers.now() - due) / 1e9;
            metrics.evicted(late);
            log.info("Pod {} (uid {}) evicted from node {}: taints {}", pod, pod.uid, pod.node, pod.node.taints);
            report.decided(
                    pod,
                    "Evicted",
                    "Pod " + pod + " was evicted from node " + pod.node + " because of its taints " + pod.node.taints,
                    JsonObject.builder()
                            .put("lateMillis", Math.round(late * 1000))
                            .put("failures", failures)
                            .build());
        }

        private void failed(Throwable error) {
            failures++;
            if (!config.durableEviction() && failures >= TRIES) {
                end();
                log.error("Pod {} was not evicted and will not be: {}", pod, Failures.text(error));
                report.decided(
                        pod,
                        "EvictionFailed",
                        "Pod " + pod + " was not evicted from node " + pod.node,
                        JsonObject.EMPTY.with("error", Failures.text(error)));
                return;
            }
            Duration wait =
                    config.durableEviction() ? Jitter.stretch(RETRY.delay(failures - 1), 0.5, random) : TRY_WAIT;
            log.warn("Pod {} not evicted, try {} in {}: {}", pod, failures + 1, wait, Failures.text(error));
            loop.schedule(wait, () -> lanes.background(this::attempt));
        }

        private CompletableFuture<Void> end() {
            pod.eviction = null;
            return CompletableFuture.completedFuture(null);
        }
    }

    private static CompletableFuture<Boolean> completed(boolean value) {
        return CompletableFuture.completedFuture(value);
    }
}
