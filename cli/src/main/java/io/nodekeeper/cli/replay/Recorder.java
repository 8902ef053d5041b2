package io.nodekeeper.cli.replay;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.observer.CanaryLease;
import io.nodekeeper.simulator.replay.RecordedChange;
import io.nodekeeper.simulator.replay.RecordedNode;
import io.nodekeeper.simulator.replay.RecordingWriter;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Watches nodes and their leases, and writes each change with the time at which it came, and when it could not prove that it
 * saw all changes. Bound: what is known of the cluster's nodes. Confined to its client's loop, except for the counters.
 */
final class Recorder {
    /** Between two proofs of sight, and at most until what was recorded is in the file. */
    private static final Duration PERIOD = Duration.ofSeconds(1);

    /** How old the latest proof may be that all changes of leases were seen: half a renewal period of kubelets. */
    private static final Duration LEASE_LIMIT = Duration.ofSeconds(5);
    /** The same for nodes, which change every five minutes: so much later a deletion may be seen. */
    private static final Duration NODE_LIMIT = Duration.ofSeconds(30);

    private final Loop loop;
    private final RecordingWriter writer;
    private final long began;
    private final ProvenWatch nodeWatch;
    private final ProvenWatch leaseWatch;
    private final Map<String, JsonObject> nodes = new HashMap<>();
    private final Map<String, String> renewTimes = new HashMap<>();

    private final CompletableFuture<Void> failed = new CompletableFuture<>();
    private boolean sightLost;
    private boolean ended;
    private volatile boolean listed;
    private volatile int nodeCount;
    private volatile long renewals;
    private volatile long gaps;

    /** Writes to {@code writer}, which begins now. */
    Recorder(KubeClient client, RandomGenerator random, RecordingWriter writer) {
        this.loop = client.loop();
        this.writer = writer;
        this.began = loop.clock().nanoTime();
        nodeWatch = new ProvenWatch(client, ResourceType.NODES, "", random, began, NODE_LIMIT, new Nodes());
        leaseWatch = new ProvenWatch(
                client, ResourceType.LEASES, Lease.NODE_NAMESPACE, random, began, LEASE_LIMIT, new Leases());
    }

    void start() {
        nodeWatch.start();
        leaseWatch.start();
        loop.schedule(PERIOD, this::tick);
    }

    /** Ends the recording; completes when all of it is in the file, or exceptionally if it cannot be written. */
    CompletableFuture<Void> end() {
        nodeWatch.stop();
        leaseWatch.stop();
        loop.execute(() -> {
            look();
            write(new RecordedChange.End(elapsed()));
            output(writer::close);
            ended = true;
            failed.complete(null);
        });
        return failed;
    }

    /** Completes exceptionally if the file cannot be written. */
    CompletableFuture<Void> failed() {
        return failed;
    }

    /** Whether all nodes and leases were listed. Any thread. */
    boolean hasBegun() {
        return listed;
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
        output(() -> writer.write(change));
    }

    /** Something that is done with the file. */
    private interface Output {
        void run() throws IOException;
    }

    /** The first failure ends the recording. */
    private void output(Output output) {
        if (ended) {
            return;
        }
        try {
            output.run();
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
        nodeWatch.prove();
        leaseWatch.prove();
        output(writer::flush);
    }

    /** Writes whether sight was lost or found. */
    private void look() {
        listed |= nodeWatch.hasListed() && leaseWatch.hasListed();
        long now = loop.clock().nanoTime();
        List<ProvenWatch> blind = Stream.of(nodeWatch, leaseWatch)
                .filter(watch -> !watch.sees(now))
                .toList();
        if (!sightLost && !blind.isEmpty()) {
            sightLost = true;
            gaps++;
            long since = blind.stream().mapToLong(ProvenWatch::provenAt).min().orElse(now);
            write(new RecordedChange.SightLost(elapsed(), Duration.ofNanos(since - began)));
        } else if (sightLost && blind.isEmpty()) {
            sightLost = false;
            write(new RecordedChange.SightFound(elapsed()));
        }
    }

    private final class Nodes implements ProvenWatch.Changes {
        @Override
        public JsonObject parts(JsonObject object) {
            return RecordedNode.of(new Node(object));
        }

        @Override
        public void seen(JsonObject object) {
            JsonObject node = parts(object);
            String name = new Node(node).name();
            if (!node.equals(nodes.put(name, node))) {
                write(new RecordedChange.NodeSeen(elapsed(), node));
            }
            nodeCount = nodes.size();
        }

        @Override
        public void gone(String name) {
            nodes.remove(name);
            nodeCount = nodes.size();
            write(new RecordedChange.NodeGone(elapsed(), name));
        }
    }

    private final class Leases implements ProvenWatch.Changes {
        @Override
        public JsonObject parts(JsonObject object) {
            Lease lease = new Lease(object);
            return JsonObject.EMPTY
                    .with(
                            "metadata",
                            JsonObject.EMPTY
                                    .with("name", lease.name())
                                    .with("labels", lease.metadata().object("labels")))
                    .with(
                            "spec",
                            JsonObject.EMPTY
                                    .with("holderIdentity", lease.holderIdentity())
                                    .with("renewTime", lease.spec().text("renewTime")));
        }

        @Override
        public void seen(JsonObject object) {
            Lease lease = new Lease(object);
            String renewTime = lease.spec().text("renewTime");
            // The canary of a controller is no node's. The controller ignores renewals of a node's lease by another
            // holder, too.
            boolean own =
                    lease.holderIdentity().isEmpty() || lease.holderIdentity().equals(lease.name());
            if (lease.labels().containsKey(CanaryLease.LABEL)
                    || !own
                    // A node may write a year that no reader of the recording accepts.
                    || KubeTime.parse(renewTime).isEmpty()) {
                return;
            }
            if (!renewTime.equals(renewTimes.put(lease.name(), renewTime))) {
                renewals++;
                write(new RecordedChange.Renewed(elapsed(), lease.name(), renewTime));
            }
        }

        @Override
        public void gone(String name) {
            renewTimes.remove(name);
        }
    }
}
