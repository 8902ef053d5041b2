package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets the Ready condition of pods to False when their node is not ready, so that they get no traffic. It retries while
 * the node is not ready and the pod is Ready, whichever component set the node's condition. Confined to the loop.
 */
final class PodMarker {
    private static final Logger log = LoggerFactory.getLogger(PodMarker.class);
    /**
     * The pauses between attempts: a fast first retry, because a conflict ends when the watch sends the newer version.
     */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));
    /** If another client sets a marked pod of an Unknown node to Ready, it is marked again at most once a minute. */
    private static final Duration TRUCE = Duration.ofSeconds(60);

    private final WorkloadConfig config;
    private final Loop loop;
    private final PriorityWorkQueue workQueue;
    private final PodCache cache;
    private final PodWrites writes;
    private final NodeReads reads;
    private final PodReport report;
    /** At most one mark for each pod. */
    private final KeyedJobs<TrackedPod, Mark> jobs;

    PodMarker(
            WorkloadConfig config,
            Loop loop,
            PriorityWorkQueue workQueue,
            PodCache cache,
            PodWrites writes,
            NodeReads reads,
            PodReport report) {
        this.config = config;
        this.loop = loop;
        this.workQueue = workQueue;
        this.cache = cache;
        this.writes = writes;
        this.reads = reads;
        this.report = report;
        this.jobs = new KeyedJobs<>(
                "Mark of the pod", workQueue, PriorityWorkQueue.Priority.BACKGROUND, loop, this::released);
    }

    /**
     * Whether {@code pod} must be marked. No kubelet reports the pods of a node that is Unknown. The kubelet of a node
     * that reports itself as not ready is alive and may set its pods to Ready again: such pods are marked once for each
     * time that the node loses Ready, if their Ready condition is older than the node's. Both times are the kubelet's,
     * so they are comparable. A kubelet that sets its pod back may repeat the condition's old time, so the time alone
     * does not show that it disagreed.
     */
    static boolean isDue(TrackedPod pod) {
        HostNode node = pod.node;
        return node.known && isDue(pod, node.ready, node.readySince);
    }

    private static boolean isDue(TrackedPod pod, String nodeReady, long nodeReadySince) {
        return pod.ready.equals(Condition.TRUE)
                && switch (nodeReady) {
                    case Condition.UNKNOWN -> true;
                    case Condition.FALSE -> pod.readySince < nodeReadySince && pod.markedFor != nodeReadySince;
                    default -> false;
                };
    }

    /** Something about {@code pod} or its node may have changed. */
    void review(TrackedPod pod) {
        if (!isDue(pod) || jobs.contains(pod)) {
            return;
        }
        HostNode node = pod.node;
        long sinceLast = loop.clock().nanoTime() - pod.markedAt;
        boolean again = pod.markedAt != HostNode.NO_TIME && pod.markedFor == node.readySince;
        Mark mark = new Mark(pod, node);
        node.marking++;
        boolean begun = again && sinceLast < TRUCE.toNanos()
                ? jobs.submitAfter(pod, mark, TRUCE.minusNanos(sinceLast))
                : jobs.submit(pod, mark);
        node.marking -= begun ? 0 : 1;
    }

    /** The number of marks that wait, run, or pause before their next attempt. */
    int size() {
        return jobs.size();
    }

    private void released(TrackedPod pod, Mark mark) {
        HostNode node = mark.node;
        node.marked += mark.marked ? 1 : 0;
        node.marking--;
        if (node.marking == 0 && node.marked > 0) {
            String text = node.marked + " pods of node " + node + " marked not ready";
            log.info("{}", text);
            report.decided(
                    node.name,
                    node.uid,
                    "PodsMarked",
                    text,
                    JsonObject.builder().put("pods", node.marked).build());
            node.marked = 0;
        }
        if (cache.isCurrent(pod) && pod.node != node) {
            review(pod);
        }
    }

    /** The marking of one pod, over all attempts. */
    private final class Mark implements KeyedJobs.Job {
        private final TrackedPod pod;
        private final HostNode node;
        private boolean marked;
        private int failures;

        private Mark(TrackedPod pod, HostNode node) {
            this.pod = pod;
            this.node = node;
        }

        @Override
        public CompletionStage<KeyedJobs.Next> run() {
            if (!cache.isCurrent(pod) || pod.node != node || !isDue(pod) || workQueue.isClosed()) {
                return KeyedJobs.Next.done();
            }
            String version = pod.version;
            int newsBefore = node.news;
            long episode = node.readySince;
            CompletableFuture<Boolean> nodeAsks = config.observerGuard()
                    ? reads.at(node).thenApply(this::isDueOn)
                    : CompletableFuture.completedFuture(true);
            return nodeAsks.thenCompose(asks -> asks
                            ? writes.markNotReady(pod).thenApply(json -> marked(json, version, episode))
                            : CompletableFuture.completedFuture(postponed(newsBefore)))
                    .exceptionally(error -> failed(error, episode));
        }

        private boolean isDueOn(Optional<Node> live) {
            return live.filter(node::isSame)
                    .flatMap(Node::ready)
                    .filter(ready -> isDue(pod, HostNode.word(ready.status()), HostNode.since(ready)))
                    .isPresent();
        }

        /** The API's state does not require it; the watch will send that state, or has sent it during the read. */
        private KeyedJobs.Next postponed(int newsBefore) {
            if (node.news != newsBefore) {
                return new KeyedJobs.Next.Again(Duration.ZERO);
            }
            log.info("Pod {} is not marked for now: node {} has changed", pod, node);
            return new KeyedJobs.Next.Again(RETRY.cap());
        }

        private KeyedJobs.Next marked(JsonObject json, String version, long episode) {
            cache.wrote(pod, version, json);
            pod.markedAt = loop.clock().nanoTime();
            pod.markedFor = episode;
            marked = true;
            log.debug("Pod {} of node {} marked not ready", pod, node);
            report.notReady(pod);
            return new KeyedJobs.Next.Done();
        }

        private KeyedJobs.Next failed(Throwable error, long episode) {
            if (Failures.isCode(error, 404)) {
                // The watch will send the new state.
                pod.markedAt = loop.clock().nanoTime();
                pod.markedFor = episode;
                return new KeyedJobs.Next.Done();
            }
            Duration wait = RETRY.delay(failures++);
            log.info("Marking pod {} failed: {}; retrying in {}", pod, Failures.text(error), wait);
            return new KeyedJobs.Next.Again(wait);
        }
    }
}
