package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evicts pods that do not tolerate a NoExecute taint of their node when their toleration ends, as Kubernetes'
 * taint-eviction controller does. Confined to the loop.
 */
final class Evictor {
    private static final Logger log = LoggerFactory.getLogger(Evictor.class);
    /** Kubernetes' number of attempts, and the wait between them. */
    private static final int TRIES = 5;
    /** See {@link #TRIES}. */
    private static final Duration TRY_WAIT = Duration.ofMillis(10);
    /**
     * The pauses between attempts, which continue until the pod is deleted or may stay: a fast first retry, then seldom
     * enough not to load a server in trouble.
     */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(30));
    /**
     * If the API and the watch disagree about a node, the watch is late, and its next state is reviewed. If it sends
     * none, the node is read again after this time, which bounds reads to one per node in 5 s.
     */
    private static final long READ_AGAIN = Duration.ofSeconds(5).toNanos();

    private static final long AT_ONCE = Long.MIN_VALUE;
    private static final long NEVER = Long.MAX_VALUE;

    private final WorkloadConfig config;
    private final Loop loop;
    private final RandomGenerator random;
    private final PriorityWorkQueue workQueue;
    private final PodCache cache;
    private final PodWrites writes;
    private final NodeReads reads;
    private final PodReport report;
    private final ControllerMetrics metrics;
    private final PodTimers timers;
    /** At most one eviction for each pod. */
    private final KeyedJobs<TrackedPod, Eviction> jobs;

    Evictor(
            WorkloadConfig config,
            Loop loop,
            RandomGenerator random,
            PriorityWorkQueue workQueue,
            PodCache cache,
            PodWrites writes,
            NodeReads reads,
            PodReport report,
            ControllerMetrics metrics) {
        this.config = config;
        this.loop = loop;
        this.random = random;
        this.workQueue = workQueue;
        this.cache = cache;
        this.writes = writes;
        this.reads = reads;
        this.report = report;
        this.metrics = metrics;
        this.timers = new PodTimers(loop, this::expired);
        this.jobs = new KeyedJobs<>(
                "Eviction of the pod",
                workQueue,
                PriorityWorkQueue.Priority.BACKGROUND,
                loop,
                metrics.queue("noexec_taint_pod"),
                this::released);
    }

    /** The clock of {@link ActiveTaint#since}. */
    long now() {
        return timers.now();
    }

    /** Something about {@code pod} or the taints of its node may have changed. */
    void review(TrackedPod pod) {
        if (pod.deleted || jobs.contains(pod)) {
            // A running eviction checks by itself before each step.
            return;
        }
        if (config.durableEviction() && (pod.terminating || pod.finished)) {
            timers.unset(pod);
            return;
        }
        if (!pod.node.known) {
            // The pod garbage collector handles these. The reference lets its timers run.
            if (config.durableEviction()) {
                timers.unset(pod);
            }
            return;
        }
        Optional<List<Toleration>> tolerations = pod.tolerationsFor(pod.node.taints);
        if (tolerations.isEmpty()) {
            // The job reads them, and has the pod reviewed again.
            begin(pod, timers.now());
            return;
        }
        switch (patience(pod, tolerations.get(), pod.node.taints)) {
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

    /** The evictions that wait for their time, by node; nodes without any are left out. */
    List<PlannedEvictions> planned() {
        List<PlannedEvictions> planned = new ArrayList<>();
        for (HostNode node : cache.nodes()) {
            planned(node).ifPresent(planned::add);
        }
        return planned;
    }

    /** The planned evictions of one node; empty if there are none. */
    Optional<PlannedEvictions> planned(String name) {
        return cache.findNode(name).flatMap(this::planned);
    }

    private Optional<PlannedEvictions> planned(HostNode node) {
        if (node.taints.isEmpty()) {
            return Optional.empty();
        }
        List<Long> times = cache.pods(node).stream()
                .flatMap(pod -> timers.of(pod).stream())
                .toList();
        return times.stream().min(Comparator.naturalOrder()).map(next -> {
            Duration left = Duration.ofNanos(Math.max(0, next - timers.now()));
            return new PlannedEvictions(node.name, times.size(), left);
        });
    }

    /** {@code pod} was deleted. */
    void gone(TrackedPod pod) {
        if (timers.unset(pod) && !config.timeAddedEviction()) {
            report.cancelling(pod);
        }
    }

    /** Starts no more evictions. */
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

    private Patience patience(TrackedPod pod, List<Toleration> tolerations, List<ActiveTaint> taints) {
        return config.timeAddedEviction()
                ? Patience.of(tolerations, taints, createdBy(pod))
                : Patience.asReference(tolerations, taints, timers.now(), timers.of(pod));
    }

    /**
     * The latest moment at which {@code pod} can have been created: never later than now, whatever the API server's clock
     * shows. Computed once, so that a jump of the wall clock evicts no pod.
     */
    private long createdBy(TrackedPod pod) {
        if (pod.createdBy == HostNode.NO_TIME && pod.created != HostNode.NO_TIME) {
            long now = timers.now();
            Instant created = Instant.ofEpochSecond(pod.created);
            pod.createdBy =
                    Math.min(now, ActiveTaint.endOf(created, loop.clock().wallTime(), now));
        }
        return pod.createdBy;
    }

    private void cancel(TrackedPod pod) {
        if (timers.unset(pod)) {
            report.cancelling(pod);
        }
    }

    private void begin(TrackedPod pod, long due) {
        if (!pod.deleted) {
            jobs.submit(pod, new Eviction(pod, due));
        }
    }

    /** The number of evictions that wait, run, or pause before their next attempt. */
    int size() {
        return jobs.size();
    }

    /** Called after the key was released, so that a review may start another eviction. */
    private void released(TrackedPod pod, Eviction eviction) {
        if (eviction.review && cache.isCurrent(pod)) {
            review(pod);
        }
    }

    /** The eviction of one pod, over all attempts. */
    private final class Eviction implements KeyedJobs.Job {
        private final TrackedPod pod;
        private final long due;
        /** {@link HostNode#news} when this run began. */
        private int newsBefore;

        private boolean announced;
        /** Whether the pod must be reviewed when this ends. */
        private boolean review;

        private int failures;

        private Eviction(TrackedPod pod, long due) {
            this.pod = pod;
            this.due = due;
        }

        @Override
        public CompletionStage<KeyedJobs.Next> run() {
            if (workQueue.isClosed()) {
                return KeyedJobs.Next.done();
            }
            if (pod.tolerationsFor(pod.node.taints).isEmpty()) {
                return learn().exceptionally(this::failed);
            }
            if (!config.durableEviction()) {
                announce();
                return writes.evictAsReference(pod)
                        .handle((done, error) -> error == null ? evicted(done) : failed(error));
            }
            if (!isDue()) {
                return completed(reconsider());
            }
            newsBefore = pod.node.news;
            CompletableFuture<Long> askedFor =
                    config.observerGuard() ? reads.at(pod.node).thenApply(this::dueOn) : completed(AT_ONCE);
            return askedFor.thenCompose(at -> at <= timers.now() ? evict() : completed(postponed(at)))
                    .exceptionally(this::failed);
        }

        /** Reads which of the pod's many tolerations matter. */
        private CompletableFuture<KeyedJobs.Next> learn() {
            List<ActiveTaint> taints = pod.node.taints;
            String version = pod.version;
            return writes.live(pod, taints).thenApply(live -> {
                if (live.isEmpty()) {
                    return evicted(false);
                }
                // If the pod has changed since, the read may have returned the state before that.
                if (pod.version.equals(version)) {
                    pod.learned(taints, PodParts.allTolerations(live.get()));
                }
                return reconsider();
            });
        }

        /**
         * The node requires the eviction. Reads the pod, too, because it may have a new toleration, or be another pod.
         */
        private CompletableFuture<KeyedJobs.Next> evict() {
            List<ActiveTaint> taints = pod.node.taints;
            return writes.live(pod, taints).thenCompose(live -> {
                if (live.isEmpty()) {
                    return completed(evicted(false));
                }
                if (live.get().object("metadata").has("deletionTimestamp") || PodParts.isFinished(live.get())) {
                    return completed(new KeyedJobs.Next.Done());
                }
                if (!pod.node.taints.equals(taints)) {
                    return completed(new KeyedJobs.Next.Again(Duration.ZERO));
                }
                long at = due(PodParts.allTolerations(live.get()), taints);
                if (at > timers.now()) {
                    return completed(postponed(at));
                }
                announce();
                return writes.disrupt(pod, live.get())
                        .thenCompose(there -> there ? writes.delete(pod) : completed(false))
                        .thenApply(this::evicted);
            });
        }

        private void announce() {
            if (!announced) {
                announced = true;
                report.marking(pod);
            }
        }

        /** Whether the pod must leave its node now, by what is known. */
        private boolean isDue() {
            return due(pod.node.taints) <= timers.now();
        }

        /** When the pod must leave a node with these taints; never if the tolerations that decide are not known. */
        private long due(List<ActiveTaint> taints) {
            return pod.tolerationsFor(taints)
                    .map(tolerations -> due(tolerations, taints))
                    .orElse(NEVER);
        }

        /** When a pod with these tolerations must leave a node with these taints: a monotonic time, or never. */
        private long due(List<Toleration> tolerations, List<ActiveTaint> taints) {
            if (pod.terminating || pod.finished || !cache.isCurrent(pod) || !pod.node.known) {
                return NEVER;
            }
            return switch (patience(pod, tolerations, taints)) {
                case Patience.Endless() -> NEVER;
                case Patience.None(ActiveTaint taint) -> AT_ONCE;
                // The reference does not move deadlines; this one has passed.
                case Patience.Until(long at, ActiveTaint taint) -> config.timeAddedEviction() ? at : AT_ONCE;
            };
        }

        private long dueOn(Optional<Node> live) {
            HostNode node = pod.node;
            long at = live.isPresent() && node.isSame(live.get())
                    ? due(node.taintsThatCount(live.get(), loop.clock().wallTime(), timers.now()))
                    : NEVER;
            node.disputed |= at > timers.now();
            return at;
        }

        /**
         * By the API's state, the eviction is due at {@code at}, in the future; the watch may have sent that state
         * meanwhile.
         */
        private KeyedJobs.Next postponed(long at) {
            if (!isDue()) {
                return reconsider();
            }
            if (pod.node.news != newsBefore) {
                // The read may have returned the state before that change.
                return new KeyedJobs.Next.Again(Duration.ZERO);
            }
            log.info("Pod {} stays for now: it or node {} has changed", pod, pod.node);
            timers.set(pod, Math.min(at, timers.now() + READ_AGAIN));
            return new KeyedJobs.Next.Done();
        }

        private KeyedJobs.Next reconsider() {
            review = true;
            return new KeyedJobs.Next.Done();
        }

        private KeyedJobs.Next evicted(boolean accepted) {
            // The reference would evict it again.
            pod.deleted = config.durableEviction();
            if (!accepted) {
                log.debug("Pod {} was deleted before its eviction", pod);
                return new KeyedJobs.Next.Done();
            }
            double late = (timers.now() - due) / 1e9;
            metrics.evicted(late);
            String taints = ActiveTaint.text(pod.node.taints);
            log.info("Pod {} (uid {}) evicted from node {}: taints {}", pod, pod.uid, pod.node, taints);
            report.decided(
                    pod,
                    "Evicted",
                    "Pod " + pod + " was evicted from node " + pod.node + " because of its taints " + taints,
                    JsonObject.builder()
                            .put("lateMillis", Math.round(late * 1000))
                            .put("failures", failures)
                            .build());
            return new KeyedJobs.Next.Done();
        }

        private KeyedJobs.Next failed(Throwable error) {
            failures++;
            if (!config.durableEviction() && failures >= TRIES) {
                log.error("Evicting pod {} failed and is not retried: {}", pod, Failures.text(error));
                report.decided(
                        pod,
                        "EvictionFailed",
                        "Pod " + pod + " was not evicted from node " + pod.node,
                        JsonObject.EMPTY.with("error", Failures.text(error)));
                return new KeyedJobs.Next.Done();
            }
            Duration wait =
                    config.durableEviction() ? Jitter.stretch(RETRY.delay(failures - 1), 0.5, random) : TRY_WAIT;
            log.warn("Evicting pod {} failed; attempt {} in {}: {}", pod, failures + 1, wait, Failures.text(error));
            return new KeyedJobs.Next.Again(wait);
        }
    }

    private static <T> CompletableFuture<T> completed(T value) {
        return CompletableFuture.completedFuture(value);
    }
}
