package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets Ready of pods to False when their node is not ready, so that nobody sends them work: for as long as both are so,
 * whoever found out about the node, and until it is written. Confined to the loop.
 */
final class PodMarker {
    private static final Logger log = LoggerFactory.getLogger(PodMarker.class);
    /** Between tries. Chosen: a conflict is over as soon as the watch has told what it was about. */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));
    /** Somebody who sets a marked pod back is not quarreled with more often than this. Chosen. */
    private static final Duration TRUCE = Duration.ofSeconds(60);

    private final Loop loop;
    private final Lanes lanes;
    private final PodCache cache;
    private final PodWrites writes;
    private final PodReport report;

    PodMarker(Loop loop, Lanes lanes, PodCache cache, PodWrites writes, PodReport report) {
        this.loop = loop;
        this.lanes = lanes;
        this.cache = cache;
        this.writes = writes;
        this.report = report;
    }

    /**
     * Whether {@code pod} has to be marked. Nobody speaks for the pods of a node that is Unknown. The kubelet of one that
     * says of itself that it is not ready is alive and may set its pods back: they are marked once, if their Ready is
     * older than the node's. Both times are the kubelet's, so they can be compared.
     */
    static boolean isDue(TrackedPod pod) {
        HostNode node = pod.node;
        if (!node.known || !pod.ready.equals(Condition.TRUE)) {
            return false;
        }
        return switch (node.ready) {
            case Condition.UNKNOWN -> true;
            case Condition.FALSE -> pod.readySince < node.readySince;
            default -> false;
        };
    }

    /** Something about {@code pod} or its node may have changed. */
    void review(TrackedPod pod) {
        if (pod.marking || !isDue(pod)) {
            return;
        }
        pod.marking = true;
        pod.node.marking++;
        HostNode node = pod.node;
        long sinceLast = loop.clock().nanoTime() - pod.markedAt;
        boolean again = pod.markedAt != TrackedPod.NO_TIME && pod.markedFor == node.readySince;
        if (again && sinceLast < TRUCE.toNanos()) {
            again(pod, node, TRUCE.minusNanos(sinceLast));
        } else {
            lanes.background(() -> attempt(pod, node));
        }
    }

    private CompletionStage<?> attempt(TrackedPod pod, HostNode node) {
        if (!cache.isCurrent(pod) || pod.node != node || !isDue(pod) || lanes.isClosed()) {
            return end(pod, node);
        }
        String version = pod.version;
        long episode = node.readySince;
        return writes.markNotReady(pod).handle((json, error) -> {
            if (error == null) {
                cache.wrote(pod, version, json);
                marked(pod, episode);
                node.marked++;
                log.debug("Pod {} of node {} marked not ready", pod, node);
                report.notReady(pod);
                end(pod, node);
            } else if (Failures.isCode(error, 404)) {
                // The watch is about to tell.
                marked(pod, episode);
                end(pod, node);
            } else {
                Duration wait = RETRY.delay(pod.markFailures++);
                log.info("Pod {} not marked: {}; again in {}", pod, Failures.text(error), wait);
                again(pod, node, wait);
            }
            return null;
        });
    }

    private void marked(TrackedPod pod, long episode) {
        pod.markedAt = loop.clock().nanoTime();
        pod.markedFor = episode;
    }

    private void again(TrackedPod pod, HostNode node, Duration wait) {
        loop.schedule(wait, () -> lanes.background(() -> attempt(pod, node)));
    }

    private CompletionStage<?> end(TrackedPod pod, HostNode node) {
        pod.marking = false;
        pod.markFailures = 0;
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
        return CompletableFuture.completedStage(null);
    }
}
