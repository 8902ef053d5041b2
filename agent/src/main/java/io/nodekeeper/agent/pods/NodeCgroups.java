package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.cgroups.PodCgroups;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the cgroups of one node's pods true, in the kubelet's period: the limit of all pods, the weight of the burstable ones, and
 * no cgroup of a pod that does not exist. One round at a time; what fails is tried again in the next one. Confined to its loop.
 */
final class NodeCgroups {
    private static final Logger log = LoggerFactory.getLogger(NodeCgroups.class);
    /** The kubelet's period of its own cgroups. */
    static final Duration PERIOD = Duration.ofMinutes(1);
    /** Files of the kernel answer in µs; a machine that is out of memory takes longer. */
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    /** How often the end of a pod waits for its cgroup. Then the rounds go on with it, and the pod ends. */
    private static final int TRIES = 6;

    private final PodCgroups cgroups;
    private final BlockingCalls disk;
    private final Loop loop;
    /** Whether all is well, and a message: an event about the node. */
    private final BiConsumer<Boolean, String> nodeEvent;

    private String lastLimit = "";
    private List<String> lastPods = List.of();
    /** Monotonic ns. */
    private long dueAt;

    private boolean begun;
    private boolean busy;

    /**
     * The care for {@code cgroups}.
     *
     * @param nodeEvent gets, with whether it is fine, what became of the limit of all pods, when that changes
     */
    NodeCgroups(PodCgroups cgroups, BlockingCalls disk, Loop loop, BiConsumer<Boolean, String> nodeEvent) {
        this.cgroups = cgroups;
        this.disk = disk;
        this.loop = loop;
        this.nodeEvent = nodeEvent;
    }

    /**
     * To be called about each second.
     *
     * @param pods those of which something runs or will run
     * @param found gets the UIDs of all pods with a cgroup, each minute
     */
    void tick(List<Pod> pods, Consumer<Set<String>> found) {
        List<String> uids = pods.stream().map(Pod::uid).toList();
        boolean due = !begun || loop.clock().nanoTime() - dueAt >= 0;
        if (busy || !due && uids.equals(lastPods)) {
            return;
        }
        busy = true;
        lastPods = uids;
        if (due) {
            begun = true;
            dueAt = loop.clock().nanoTime() + PERIOD.toNanos();
        }
        call("weight of burstable pods", () -> cgroups.weigh(pods))
                .exceptionally(error -> {
                    log.warn("The weight of burstable pods cannot be set: {}", Failures.text(error));
                    return null;
                })
                .thenCompose(done -> due ? round(found) : CompletableFuture.completedFuture(null))
                .whenComplete((done, error) -> {
                    busy = false;
                    if (error != null) {
                        log.error("A round of the cgroups of pods ended early", error);
                    }
                });
    }

    private CompletableFuture<Void> round(Consumer<Set<String>> found) {
        return call("limit of all pods", cgroups::limitNode)
                .handle((done, error) -> error == null ? "" : Failures.text(error))
                .thenAccept(this::limited)
                .thenCompose(done -> loop.deliver(disk.call("cgroups of pods", DEADLINE, cgroups::uids)))
                .handle((uids, error) -> {
                    if (error == null) {
                        found.accept(uids);
                    } else {
                        log.warn("Cgroups of pods cannot be listed: {}", Failures.text(error));
                    }
                    return null;
                });
    }

    private void limited(String error) {
        String message = error.isEmpty()
                ? "Updated Node Allocatable limit across pods"
                : "Failed to update Node Allocatable Limits: " + error;
        if (!message.equals(lastLimit)) {
            lastLimit = message;
            nodeEvent.accept(error.isEmpty(), message);
        }
    }

    /** Makes the cgroup of {@code pod}, before anything runs in it. */
    CompletableFuture<Void> make(Pod pod) {
        return call("cgroup of " + pod.fullName(), () -> cgroups.make(pod));
    }

    /**
     * Removes the cgroup of a pod that has ended, and kills what is left in it.
     *
     * @param tries how often that failed; after some the result is fine all the same, because nothing more can be done for the pod
     */
    CompletableFuture<Void> remove(Pod pod, int tries) {
        return call("cgroup of " + pod.fullName(), () -> cgroups.remove(pod.uid()))
                .exceptionallyCompose(error -> {
                    if (tries < TRIES) {
                        return CompletableFuture.failedFuture(error);
                    }
                    log.warn("Pod {} ends without its cgroup: {}", pod.fullName(), Failures.text(error));
                    return CompletableFuture.completedFuture(null);
                });
    }

    private interface Work {
        void run() throws Exception;
    }

    private CompletableFuture<Void> call(String what, Work work) {
        return loop.deliver(disk.call(what, DEADLINE, () -> {
                    work.run();
                    return "";
                }))
                .thenAccept(done -> {});
    }
}
