package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.Lanes;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Marks pods as the reference does: those of a node when this process itself declared it Unknown, and single ones that
 * come to a node that is not ready. What fails is repeated with the next pass, unless the node is ready by then; what a
 * predecessor left undone stays so. Confined to the loop.
 */
final class ReferenceMarker {
    private static final Logger log = LoggerFactory.getLogger(ReferenceMarker.class);
    /** Kubernetes' backoff for pods that came late. */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(5), Duration.ofSeconds(1000));

    private final WorkloadConfig config;
    private final Loop loop;
    private final Lanes lanes;
    private final PodCache cache;
    private final PodWrites writes;
    private final PodReport report;

    ReferenceMarker(WorkloadConfig config, Loop loop, Lanes lanes, PodCache cache, PodWrites writes, PodReport report) {
        this.config = config;
        this.loop = loop;
        this.lanes = lanes;
        this.cache = cache;
        this.writes = writes;
        this.report = report;
    }

    /** This process declared the node Unknown, which was Ready. */
    void wentSilent(HostNode node) {
        List<CompletableFuture<Boolean>> marks = new ArrayList<>();
        for (TrackedPod pod : List.copyOf(node.pods)) {
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

    private void nextPass(HostNode node) {
        node.markAgain = false;
        if (isBad(node) && !lanes.isClosed()) {
            wentSilent(node);
        }
    }

    /** {@code pod} came to its node after the start. */
    void came(TrackedPod pod) {
        came(pod, 0);
    }

    private void came(TrackedPod pod, int failures) {
        if (!isBad(pod.node) || !cache.isCurrent(pod) || lanes.isClosed()) {
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

    /** Whether it is done, or there was nothing to do; never fails. */
    private CompletableFuture<Boolean> mark(TrackedPod pod) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        if (pod.ready.isEmpty() || pod.ready.equals(Condition.FALSE)) {
            return CompletableFuture.completedFuture(true);
        }
        lanes.background(() -> writes.markNotReadyAsReference(pod).handle((marked, error) -> {
            if (error == null) {
                if (marked) {
                    report.notReady(pod);
                }
                return result.complete(true);
            }
            if (Failures.isCode(error, 404)) {
                return result.complete(true);
            }
            log.warn("Pod {} not marked: {}", pod, Failures.text(error));
            report.notReady(pod);
            return result.complete(false);
        }));
        return result;
    }
}
