package io.nodekeeper.cli.replay;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.controller.heartbeats.Versions;
import io.nodekeeper.controller.observer.CanaryLease;
import io.nodekeeper.simulator.replay.RecordedChange;
import io.nodekeeper.simulator.replay.RecordedNode;
import io.nodekeeper.simulator.replay.RecordingWriter;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches nodes and their leases, and writes each change with the time at which it came. Bound: what is known of the
 * cluster's nodes. Confined to its client's loop, except for the counters.
 */
final class Recorder {
    private static final Logger log = LoggerFactory.getLogger(Recorder.class);
    /** Between two reads that prove sight, and at most until what was recorded is in the file. */
    private static final Duration PERIOD = Duration.ofSeconds(1);
    /** The deadline of a read that proves sight. A later answer would be too old for a proof soon. */
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(3);
    /** Changes are rarer than this in a cluster of a few nodes, or of nodes that are all silent. */
    private static final Duration LIST_AFTER = Duration.ofSeconds(2);

    private record SeenLease(String renewTime, long version) {}

    private final KubeClient client;
    private final Loop loop;
    private final RecordingWriter writer;
    private final long began;
    private final Reflector nodeWatch;
    private final Reflector leaseWatch;
    private final Map<String, JsonObject> nodes = new HashMap<>();
    private final Map<String, SeenLease> leases = new HashMap<>();
    /** The revision of the newest change of a lease that was seen. */
    private long newest;

    private boolean listing;
    private final CompletableFuture<Void> failed = new CompletableFuture<>();
    /** Begins with the first list of leases. */
    private Optional<RecorderSight> sight = Optional.empty();

    private boolean ended;
    private volatile boolean begun;
    private volatile int nodeCount;
    private volatile long renewals;
    private volatile long gaps;

    /** Writes to {@code writer}, which begins now. */
    Recorder(KubeClient client, RandomGenerator random, RecordingWriter writer) {
        this.client = client;
        this.loop = client.loop();
        this.writer = writer;
        this.began = loop.clock().nanoTime();
        nodeWatch = new Reflector(client, Selection.all(ResourceType.NODES), random, new Nodes());
        leaseWatch = new Reflector(
                client, Selection.inNamespace(ResourceType.LEASES, Lease.NODE_NAMESPACE), random, new Leases());
    }

    void start() {
        nodeWatch.start();
        leaseWatch.start();
        loop.schedule(PERIOD, this::tick);
    }

    /** Ends the recording; completes when all of it is in the file. */
    CompletableFuture<Void> end() {
        nodeWatch.stop();
        leaseWatch.stop();
        CompletableFuture<Void> done = new CompletableFuture<>();
        loop.execute(() -> {
            write(new RecordedChange.End(elapsed()));
            ended = true;
            try {
                writer.close();
                done.complete(null);
            } catch (IOException e) {
                done.completeExceptionally(e);
            }
        });
        return done;
    }

    /** Completes exceptionally if the file cannot be written. */
    CompletableFuture<Void> failed() {
        return failed;
    }

    /** Whether all leases were listed. Any thread. */
    boolean hasBegun() {
        return begun;
    }

    /** The number of nodes. Any thread. */
    int nodeCount() {
        return nodeCount;
    }

    /** How many renewals were seen. Any thread. */
    long renewals() {
        return renewals;
    }

    /** How often sight was lost. Any thread. */
    long gaps() {
        return gaps;
    }

    private Duration elapsed() {
        return Duration.ofNanos(loop.clock().nanoTime() - began);
    }

    private void write(RecordedChange change) {
        if (ended) {
            return;
        }
        try {
            writer.write(change);
        } catch (IOException e) {
            ended = true;
            failed.completeExceptionally(e);
        }
    }

    private void tick() {
        if (ended) {
            return;
        }
        loop.schedule(PERIOD, this::tick);
        look();
        prove();
        try {
            writer.flush();
        } catch (IOException e) {
            ended = true;
            failed.completeExceptionally(e);
        }
    }

    /** Writes whether sight was lost or found. */
    private void look() {
        long now = loop.clock().nanoTime();
        sight.ifPresent(own -> {
            own.lost(now).ifPresent(since -> {
                gaps++;
                write(new RecordedChange.SightLost(elapsed(), Duration.ofNanos(Math.max(0, since - began))));
            });
            if (own.found(now)) {
                write(new RecordedChange.SightFound(elapsed()));
            }
        });
    }

    /** Asks for the current revision; if changes are too rare to prove sight, lists all leases. */
    private void prove() {
        sight.ifPresent(own -> {
            long sentAt = loop.clock().nanoTime();
            read("limit=1", list -> {
                own.asked(Versions.number(list.object("metadata").text("resourceVersion")), sentAt);
                own.seen(newest);
            });
            if (own.age(sentAt) > LIST_AFTER.toNanos() && !listing) {
                listing = true;
                read("", list -> {
                            if (list.array("items").objects().allMatch(this::isSeen)) {
                                own.listed(sentAt);
                            }
                        })
                        .whenComplete((done, error) -> listing = false);
            }
        });
    }

    private CompletableFuture<Void> read(String query, Consumer<JsonObject> proof) {
        return client.withTimeout(READ_TIMEOUT)
                .list(ResourceType.LEASES, Lease.NODE_NAMESPACE, query)
                .handle((list, error) -> {
                    if (error != null) {
                        log.debug("cannot list leases: {}", Failures.text(error));
                    } else {
                        proof.accept(list);
                        look();
                    }
                    return null;
                });
    }

    private boolean isSeen(JsonObject json) {
        Lease lease = new Lease(json);
        SeenLease seen = leases.get(lease.name());
        return lease.labels().containsKey(CanaryLease.LABEL)
                || seen != null && !Versions.isNewer(Versions.number(lease.resourceVersion()), seen.version);
    }

    private void saw(Node node) {
        JsonObject parts = RecordedNode.of(node);
        if (!parts.equals(nodes.put(node.name(), parts))) {
            write(new RecordedChange.NodeSeen(elapsed(), parts));
        }
        nodeCount = nodes.size();
    }

    private void gone(String name) {
        if (nodes.remove(name) != null) {
            write(new RecordedChange.NodeGone(elapsed(), name));
        }
        nodeCount = nodes.size();
    }

    private void saw(Lease lease) {
        long version = Versions.number(lease.resourceVersion());
        newest = Math.max(newest, version);
        sight.ifPresent(own -> own.seen(newest));
        // The canary of a controller is no node's.
        if (lease.labels().containsKey(CanaryLease.LABEL)) {
            return;
        }
        String name = lease.name();
        String renewTime = lease.spec().text("renewTime");
        SeenLease before = leases.put(name, new SeenLease(renewTime, version));
        if (before == null || !before.renewTime.equals(renewTime)) {
            renewals++;
            write(new RecordedChange.Renewed(elapsed(), name, renewTime));
        }
    }

    /** The names of {@code known} that are not in a list. */
    private static Set<String> missing(Set<String> known, List<JsonObject> listed) {
        Set<String> missing = new HashSet<>(known);
        listed.forEach(object -> missing.remove(object.object("metadata").text("name")));
        return missing;
    }

    private final class Nodes implements Reflector.Handler {
        @Override
        public void onReplace(List<JsonObject> objects) {
            missing(nodes.keySet(), objects).forEach(Recorder.this::gone);
            objects.forEach(this::onChange);
        }

        @Override
        public void onChange(JsonObject object) {
            saw(new Node(object));
        }

        @Override
        public void onDelete(JsonObject object) {
            gone(new Node(object).name());
        }
    }

    private final class Leases implements Reflector.Handler {
        private long listedAt;

        @Override
        public void onListing() {
            listedAt = loop.clock().nanoTime();
        }

        @Override
        public void onReplace(List<JsonObject> objects) {
            missing(leases.keySet(), objects).forEach(leases::remove);
            objects.forEach(this::onChange);
            begun = true;
            sight.ifPresentOrElse(own -> own.listed(listedAt), () -> sight = Optional.of(new RecorderSight(listedAt)));
        }

        @Override
        public void onChange(JsonObject object) {
            saw(new Lease(object));
        }

        @Override
        public void onDelete(JsonObject object) {
            leases.remove(new Lease(object).name());
        }
    }
}
