package io.nodekeeper.it;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Selection;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Observes a cluster through the API: the state of each node, and when it first appeared. */
final class Fleet implements AutoCloseable {
    /** The controller's own lease among those of nodes. */
    private static final String CANARY = "nodekeeper-canary";

    private final Observer observer;
    private final Map<String, Seen> nodes = new ConcurrentHashMap<>();
    private final AtomicLong renewals = new AtomicLong();

    /** What the API showed of one node; times are System.nanoTime. */
    static final class Seen {
        /** When a heartbeat last arrived: a renewed lease or a heartbeat in the status. */
        volatile long signal;
        /** When the lease was last renewed. */
        volatile long renewal;
        /** When the node made that renewal, by its lease. A controller cannot have seen it earlier. */
        volatile long made;
        /** The status of the Ready condition. */
        volatile String ready = "";
        /** When that status appeared. */
        volatile long readySince;
        /** How often the status became Unknown. */
        volatile int marked;

        private String renewTime = "";
        private String heartbeat = "";
    }

    Fleet(Path kubeconfig) {
        observer = new Observer(kubeconfig);
        observer.follow(Selection.all(ResourceType.NODES), this::node, this::gone);
        observer.follow(Selection.inNamespace(ResourceType.LEASES, Lease.NODE_NAMESPACE), this::lease, this::gone);
    }

    KubeClient client() {
        return observer.client();
    }

    Seen node(String name) {
        return nodes.computeIfAbsent(name, unknown -> new Seen());
    }

    Map<String, Seen> nodes() {
        return nodes;
    }

    /** How many renewals of leases were seen, the first sight of each lease included. */
    long renewals() {
        return renewals.get();
    }

    /** How many nodes are Ready. */
    long ready() {
        return nodes.values().stream()
                .filter(seen -> seen.ready.equals(Condition.TRUE))
                .count();
    }

    static <T> T await(CompletableFuture<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    private void gone(ApiObject object) {
        nodes.remove(object.name());
    }

    private void node(ApiObject object) {
        Node node = new Node(object.json());
        Seen seen = node(node.name());
        long now = System.nanoTime();
        node.ready().ifPresent(ready -> {
            String heartbeat = ready.json().text("lastHeartbeatTime");
            if (!heartbeat.equals(seen.heartbeat)) {
                seen.heartbeat = heartbeat;
                seen.signal = now;
            }
            if (!ready.status().equals(seen.ready)) {
                seen.readySince = now;
                if (ready.status().equals(Condition.UNKNOWN)) {
                    seen.marked++;
                }
                seen.ready = ready.status();
            }
        });
    }

    private void lease(ApiObject object) {
        if (object.name().equals(CANARY)) {
            return;
        }
        Seen seen = node(object.name());
        String renewTime = object.spec().text("renewTime");
        if (!renewTime.equals(seen.renewTime)) {
            long now = System.nanoTime();
            seen.renewTime = renewTime;
            seen.made = KubeTime.parse(renewTime)
                    .map(made -> now - Duration.between(made, Instant.now()).toNanos())
                    .orElse(now);
            seen.signal = now;
            seen.renewal = now;
            renewals.incrementAndGet();
        }
    }

    @Override
    public void close() {
        observer.close();
    }
}
