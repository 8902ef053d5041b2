package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.WorkQueueMetrics;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles the pods of failed nodes: marks and evicts pods of failed nodes, and deletes pods and leases of deleted
 * nodes. It watches pods itself and receives nodes from its caller. It does nothing before both are listed. Confined to
 * the client's loop; only {@link #start} and {@link #stop} may be called from anywhere.
 */
public final class Workload {
    private static final Logger log = LoggerFactory.getLogger(Workload.class);
    /** Kubernetes' period of the pod garbage collector. */
    private static final Duration COLLECT_PERIOD = Duration.ofSeconds(20);

    private final WorkloadConfig config;
    private final Loop loop;
    private final RandomGenerator random;
    private final PodCache cache = new PodCache();
    /** Nodes whose taints changed. Their pods are reviewed at once, so that none waits, unlike in the reference. */
    private final WorkQueueMetrics taintedNodes;

    private final Evictor evictor;
    private final PodMarker marker;
    private final ReferenceMarker referenceMarker;
    private final PodCollector collector;
    private final LeaseCollector leases;
    private final Reflector pods;

    private boolean podsListed;
    private boolean nodesListed;
    private boolean stopped;
    private @Nullable Periodic collecting;

    /**
     * Creates a workload that has not started.
     * @param client not measured by {@code workQueue}, because lists of all pods say nothing about its limit
     * @param workQueue runs the writes as background jobs and measures the calls; closing it ends them
     * @param recorders creates the event recorder of a component
     * @param random for jitter
     */
    public Workload(
            WorkloadConfig config,
            KubeClient client,
            PriorityWorkQueue workQueue,
            Function<String, EventRecorder> recorders,
            RandomGenerator random,
            ControllerMetrics metrics,
            History history) {
        // Lists of all pods may take longer than single calls: they keep the caller's deadline.
        KubeClient calls = workQueue.measured(client.withTimeout(ControllerConfig.CALL_TIMEOUT));
        PodWrites writes = new PodWrites(calls);
        NodeReads reads = new NodeReads(calls);
        this.config = config;
        this.loop = client.loop();
        this.random = random;
        PodReport report = new PodReport(recorders, history, loop.clock());
        taintedNodes = metrics.queue("noexec_taint_node");
        evictor = new Evictor(config, loop, random, workQueue, cache, writes, reads, report, metrics);
        marker = new PodMarker(config, loop, workQueue, cache, writes, reads, report);
        referenceMarker = new ReferenceMarker(config, loop, workQueue, cache, writes, report);
        collector = new PodCollector(config, loop, workQueue, cache, writes, reads, report, metrics);
        leases = new LeaseCollector(calls, workQueue, reads, report);
        pods = new Reflector(client, Selection.all(ResourceType.PODS), random, new Pods());
    }

    /** Starts to watch pods. */
    public void start() {
        pods.start();
    }

    /** Reopens the watch of pods, because watches of the same server have stalled. */
    public void reopen() {
        pods.reopen();
    }

    /** Starts nothing more; does not wait for running calls. */
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            pods.stop();
            evictor.stop();
            if (collecting != null) {
                collecting.stop();
            }
        });
    }

    /** Receives the newest state of a node. */
    public void nodeSeen(Node node) {
        leases.clear(node.name());
        HostNode host = cache.node(node.name(), evictor.now());
        HostNode.News news = host.saw(node, loop.clock().wallTime(), evictor.now());
        if (news.taints()) {
            taintedNodes.added(0);
        }
        if (isOpen() && news.any()) {
            for (TrackedPod pod : cache.pods(host)) {
                if (config.levelPodMarking()) {
                    marker.review(pod);
                }
                if (news.taints()) {
                    evictor.review(pod);
                }
            }
        }
    }

    /** The node of that name and UID was deleted. */
    public void nodeGone(String name, String uid) {
        cache.findNode(name).filter(host -> host.known && host.uid.equals(uid)).ifPresent(host -> {
            host.gone(evictor.now());
            leaseSeen(name);
            cache.pods(host).forEach(evictor::review);
            cache.dropIfUnused(host);
        });
    }

    /** All existing nodes have been passed in. */
    public void nodesListed() {
        nodesListed = true;
        openIfKnown();
    }

    /**
     * This process has just declared the Ready node Unknown. Needed only with level marking disabled; level marking
     * finds such nodes itself.
     */
    public void nodeWentSilent(String name, String uid) {
        if (!config.levelPodMarking()) {
            cache.findNode(name)
                    .filter(host -> host.known && host.uid.equals(uid))
                    .ifPresent(referenceMarker::wentSilent);
        }
    }

    /**
     * A node lease whose node is unknown was listed, created or renewed; the node may come later. Do not call it for
     * each renewal of a known node, which would only waste time.
     */
    public void leaseSeen(String name) {
        boolean known = cache.findNode(name).map(host -> host.known).orElse(false);
        if (config.orphanLeases() && !known) {
            leases.seen(name);
        }
    }

    /** A node lease whose node is unknown was listed; that says nothing about its last renewal. */
    public void leaseListed(String name) {
        if (config.orphanLeases()) {
            leases.listed(name);
        }
    }

    /** A node lease was deleted. */
    public void leaseGone(String name) {
        leases.clear(name);
    }

    /** The evictions that wait for their time. On the loop. */
    public List<PlannedEvictions> planned() {
        return evictor.planned();
    }

    /** The planned evictions of the node of that name; empty if there are none. On the loop. */
    public Optional<PlannedEvictions> planned(String node) {
        return evictor.planned(node);
    }

    /** The number of entries of each queue and map, by name. On the loop. */
    public Map<String, Integer> sizes() {
        Map<String, Integer> sizes = new TreeMap<>(leases.sizes());
        sizes.putAll(collector.sizes());
        sizes.putAll(cache.sizes());
        sizes.put("evictions", evictor.size());
        sizes.put("marks", marker.size() + referenceMarker.size());
        return sizes;
    }

    /** Whether the pods are known: without them none is evicted or marked. */
    public boolean isListed() {
        return podsListed;
    }

    private boolean isOpen() {
        return podsListed && nodesListed && !stopped;
    }

    private void openIfKnown() {
        if (!isOpen() || collecting != null) {
            return;
        }
        for (HostNode host : cache.nodes()) {
            host.missingSince = evictor.now();
            for (TrackedPod pod : cache.pods(host)) {
                if (config.levelPodMarking()) {
                    marker.review(pod);
                }
                evictor.review(pod);
            }
        }
        log.info("watching {} pods", cache.pods().size());
        collecting = Periodic.start("pod garbage collector", loop, COLLECT_PERIOD, 0, random, this::collect);
    }

    private CompletionStage<?> collect() {
        if (!stopped) {
            leases.run();
            collector.run(evictor.now());
        }
        return CompletableFuture.completedStage(null);
    }

    private void follow(PodCache.Change change) {
        if (!isOpen()) {
            return;
        }
        TrackedPod pod = change.pod();
        boolean came = change.added() || change.moved();
        if (config.levelPodMarking()) {
            marker.review(pod);
        } else if (came) {
            referenceMarker.came(pod);
        }
        if (came || change.tolerations() || config.durableEviction()) {
            evictor.review(pod);
        }
    }

    private final class Pods implements Reflector.Handler {
        @Override
        public JsonObject reduced(JsonObject object) {
            return PodParts.of(object);
        }

        @Override
        public void onReplace(List<JsonObject> objects) {
            Set<String> there = new HashSet<>();
            for (JsonObject object : objects) {
                PodCache.Change change = cache.put(object, evictor.now());
                there.add(change.pod().uid);
                follow(change);
            }
            List.copyOf(cache.pods()).stream()
                    .map(pod -> pod.uid)
                    .filter(uid -> !there.contains(uid))
                    .forEach(this::gone);
            podsListed = true;
            openIfKnown();
        }

        @Override
        public void onChange(JsonObject object) {
            follow(cache.put(object, evictor.now()));
        }

        @Override
        public void onDelete(JsonObject object) {
            gone(object.object("metadata").text("uid"));
        }

        private void gone(String uid) {
            cache.remove(uid).ifPresent(evictor::gone);
        }
    }
}
