package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PodEvent;
import io.nodekeeper.agent.pleg.PodRef;
import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sources.ApiPods;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All pods of the node: one worker for each pod that a source has, or that the runtime still has. A pod beyond the node's
 * limit is rejected as a kubelet does. Confined to its loop.
 */
public final class PodManager {
    private static final Logger log = LoggerFactory.getLogger(PodManager.class);
    /** The grace period of a pod that is only known from the runtime, if its containers do not say: Kubernetes' default. */
    private static final Duration ORPHANS_GRACE = Duration.ofSeconds(30);
    /** Rejected pods whose status is being written; further ones are rejected when one of these is done. */
    private static final int MOST_REJECTED = 1_000;

    private final PodPorts ports;
    private final Pleg pleg;
    private final PodWorker.Readiness readiness;
    private final int maxPods;
    private final Predicate<PodRef> foreign;
    private final ApiPods api;
    private final long startedAt;
    /** By UID. As many as the sources and the runtime have pods. */
    private final Map<String, PodWorker> workers = new LinkedHashMap<>();

    private final Map<String, StatusWriter> rejected = new LinkedHashMap<>();
    private boolean directoriesSeen;
    private boolean stopped;

    /**
     * A manager that is not started yet.
     *
     * @param maxPods the most pods that run at the same time
     * @param foreign the pods of the runtime that belong to nobody's pod and must not be touched
     */
    PodManager(
            PodPorts ports,
            Pleg pleg,
            PodWorker.Readiness readiness,
            String node,
            int maxPods,
            Predicate<PodRef> foreign,
            RandomGenerator random) {
        this.ports = ports;
        this.pleg = pleg;
        this.readiness = readiness;
        this.maxPods = maxPods;
        this.foreign = foreign;
        startedAt = ports.loop().clock().nanoTime() - 1;
        api = new ApiPods(ports.client(), node, random, this::changed);
    }

    /** Starts to watch. */
    void start() {
        pleg.listen(this::happened);
        api.start();
    }

    /** Begins nothing any more; what runs goes on running. */
    void stop() {
        stopped = true;
        api.stop();
        workers.values().forEach(PodWorker::stop);
        rejected.values().forEach(StatusWriter::stop);
    }

    /** The number of pods that have a worker. */
    int size() {
        return workers.size();
    }

    /** To be called about each second. */
    CompletableFuture<Void> tick() {
        if (!stopped) {
            List.copyOf(workers.values()).forEach(PodWorker::tick);
            workers.values()
                    .removeIf(worker ->
                            worker.isFinished() && api.pod(worker.pod().uid()).isEmpty());
            rejected.values().removeIf(writer -> writer.idle().isDone());
            findOrphans();
        }
        return CompletableFuture.completedFuture(null);
    }

    private void happened(PodEvent event) {
        PodWorker worker = workers.get(event.podUid());
        if (worker != null) {
            worker.wake();
        }
    }

    /** A source has, changed, or no longer has {@code pod}. */
    private void changed(Pod pod) {
        if (stopped) {
            return;
        }
        Optional<Pod> current = api.pod(pod.uid()).filter(known -> !known.isMirror());
        PodWorker worker = workers.get(pod.uid());
        if (worker != null) {
            worker.want(current.map(Wanted::ofApi).orElseGet(() -> Wanted.gone(pod, pod.grace())));
        } else if (current.isPresent()) {
            admit(current.get());
        }
    }

    private void admit(Pod pod) {
        long active = workers.values().stream().filter(PodWorker::isActive).count();
        boolean starts = pod.deletionTimestamp().isEmpty() && !pod.isTerminal();
        boolean known = pleg.inventory().pod(pod.uid()).isPresent();
        if (starts && !known && active >= maxPods) {
            reject(pod, active);
        } else {
            work(Wanted.ofApi(pod));
        }
    }

    private void reject(Pod pod, long active) {
        if (rejected.size() >= MOST_REJECTED || rejected.containsKey(pod.uid())) {
            return;
        }
        String message = "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: " + active
                + ", capacity: " + maxPods;
        new PodEvents(ports.events()).warning(pod, "OutOfpods", message);
        StatusWriter writer = new StatusWriter(ports.client());
        rejected.put(pod.uid(), writer);
        writer.report(
                pod,
                JsonObject.builder()
                        .put("phase", Pod.FAILED)
                        .put("reason", "OutOfpods")
                        .put("message", message)
                        .build());
    }

    private void work(Wanted wanted) {
        PodWorker worker = new PodWorker(ports, pleg, readiness, wanted, startedAt);
        workers.put(wanted.pod().uid(), worker);
        worker.wake();
    }

    /** Ends pods that the runtime or the disk has and no source has. Only once all sources were read. */
    private void findOrphans() {
        if (!api.seen() || !pleg.firstRelist().isDone()) {
            return;
        }
        List<PodRef> orphans = new ArrayList<>(pleg.inventory().pods());
        orphans.removeIf(
                pod -> workers.containsKey(pod.uid()) || api.pod(pod.uid()).isPresent() || foreign.test(pod));
        for (PodRef orphan : orphans) {
            Duration grace = pleg.cache().get(orphan.uid()).status().containers().stream()
                    .flatMap(container -> PodLabels.grace(container).stream())
                    .findFirst()
                    .orElse(ORPHANS_GRACE);
            log.info("Pod {} is in no source any more; ending it", orphan);
            work(Wanted.gone(unknown(orphan.uid(), orphan.namespace(), orphan.name()), grace));
        }
        if (!directoriesSeen) {
            directoriesSeen = true;
            ports.onDisk("directories of pods", ports.files()::uids).whenComplete(this::orphanedDirectories);
        }
    }

    private void orphanedDirectories(List<String> uids, @Nullable Throwable error) {
        if (error != null) {
            log.warn("Directories of pods that ended cannot be listed: {}", Failures.text(error));
            directoriesSeen = false;
            return;
        }
        uids.stream()
                .filter(uid -> !workers.containsKey(uid) && api.pod(uid).isEmpty())
                .forEach(uid -> work(Wanted.gone(unknown(uid, "", uid), ORPHANS_GRACE)));
    }

    private static Pod unknown(String uid, String namespace, String name) {
        return new Pod(JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", name)
                                .put("namespace", namespace)
                                .put("uid", uid)
                                .build())
                .build());
    }
}
