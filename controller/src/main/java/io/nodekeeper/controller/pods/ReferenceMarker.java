package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Marks pods as the reference does: the pods of a node when this process itself declared it Unknown, and new pods of a
 * node that is not ready. The next pass retries failures, unless the node is ready by then; nothing completes a
 * predecessor's unfinished work. Confined to the loop.
 */
final class ReferenceMarker {
    private static final Logger log = LoggerFactory.getLogger(ReferenceMarker.class);
    /** Kubernetes' backoff for new pods. */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(5), Duration.ofSeconds(1000));

    private final WorkloadConfig config;
    private final Loop loop;
    private final PriorityWorkQueue workQueue;
    private final PodCache cache;
    private final PodWrites writes;
    private final PodReport report;
    /** At most one mark for each pod. */
    private final KeyedJobs<TrackedPod, Mark> jobs;

    ReferenceMarker(
            WorkloadConfig config,
            Loop loop,
            PriorityWorkQueue workQueue,
            PodCache cache,
            PodWrites writes,
            PodReport report) {
        this.config = config;
        this.loop = loop;
        this.workQueue = workQueue;
        this.cache = cache;
        this.writes = writes;
        this.report = report;
        this.jobs = new KeyedJobs<>("Mark of the pod", workQueue, PriorityWorkQueue.Priority.BACKGROUND, loop);
    }

    /** This process declared the Ready node Unknown. */
    void wentSilent(HostNode node) {
        List<CompletableFuture<Boolean>> marks = new ArrayList<>();
        for (TrackedPod pod : List.copyOf(cache.pods(node))) {
            marks.add(mark(pod));
        }
        CompletableFuture.allOf(marks.toArray(CompletableFuture[]::new)).thenRun(() -> {
            if (marks.stream().allMatch(CompletableFuture::join)) {
                node.markAgain = false;
            } else if (!node.markAgain) {
                node.markAgain = true;
                loop.schedule(config.nodeMonitorPeriod(), () -> nextPass(node));
            }
        });
    }

    /** The number of marks that wait or run. */
    int size() {
        return jobs.size();
    }

    private void nextPass(HostNode node) {
        node.markAgain = false;
        if (isBad(node) && !workQueue.isClosed()) {
            wentSilent(node);
        }
    }

    /** {@code pod} was added to its node after the start. */
    void came(TrackedPod pod) {
        came(pod, 0);
    }

    private void came(TrackedPod pod, int failures) {
        if (!isBad(pod.node) || !cache.isCurrent(pod) || workQueue.isClosed()) {
            return;
        }
        mark(pod).thenAccept(done -> {
            if (!done) {
                loop.schedule(RETRY.delay(failures), () -> came(pod, failures + 1));
            }
        });
    }

    private static boolean isBad(HostNode node) {
        return node.known && !node.ready.isEmpty() && !node.ready.equals(Condition.TRUE);
    }

    /** True if the pod is marked or needs no mark; never fails. */
    private CompletableFuture<Boolean> mark(TrackedPod pod) {
        if (pod.ready.isEmpty() || pod.ready.equals(Condition.FALSE)) {
            return CompletableFuture.completedFuture(true);
        }
        Optional<Mark> known = jobs.find(pod);
        if (known.isPresent()) {
            return known.get().result;
        }
        Mark mark = new Mark(pod);
        jobs.submit(pod, mark);
        return mark.result;
    }

    /** The marking of one pod, with one attempt. */
    private final class Mark implements KeyedJobs.Job {
        private final TrackedPod pod;
        /** True if the pod is marked or needs no mark. */
        private final CompletableFuture<Boolean> result = new CompletableFuture<>();

        private Mark(TrackedPod pod) {
            this.pod = pod;
        }

        @Override
        public CompletionStage<KeyedJobs.Next> run() {
            return writes.markNotReadyAsReference(pod).handle((marked, error) -> {
                if (error != null && !Failures.isCode(error, 404)) {
                    log.warn("Marking pod {} failed: {}", pod, Failures.text(error));
                }
                if (error == null ? marked : !Failures.isCode(error, 404)) {
                    report.notReady(pod);
                }
                result.complete(error == null || Failures.isCode(error, 404));
                return new KeyedJobs.Next.Done();
            });
        }
    }
}
