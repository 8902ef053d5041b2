package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.scan.LeaseLine;
import io.nodekeeper.controller.observer.Now;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Passes every state of nodes and leases to {@link Heartbeats}, and the resulting changes to a handler. A recreated
 * node is another node. Confined to the loop.
 */
public final class NodeInformer implements NodeStates {
    /** Handles changes. */
    public interface Handler {
        /** Something changed. */
        void changed(NodeChange change);

        /**
         * A node sent a heartbeat. This is not a {@link NodeChange}, because a renewal must create no object: 50,000
         * nodes renew 5,000 leases per second.
         */
        void heard(NodeHealth health, Sign sign, long now);

        /** All changes of one list, watch event or renewal were passed on; deadlines may have moved. */
        void settled();
    }

    private final Clock clock;
    private final Now now;
    private final Heartbeats heartbeats;
    private final Predicate<Lease> isCanary;
    private final Handler handler;
    private boolean leasesListed;
    private boolean nodesListed;
    /** Whether a list of nodes is under way. */
    private boolean listingNodes;
    /**
     * The nodes whose version changed since the list under way began: its states of them may be older, because its
     * pages show the moment of the first one. At most all nodes; empty if no list is under way.
     */
    private final Set<NodeHealth> changedMeanwhile = new HashSet<>();

    /** Whether a list of leases is under way. */
    private boolean listingLeases;
    /**
     * The same of leases, by name: other reads may show newer renewals than the list, and the watch that follows it sends them again.
     * At most all leases; empty if no list is under way.
     */
    private final Set<String> leasesChangedMeanwhile = new HashSet<>();

    /** {@code isCanary} recognizes and processes the leases that belong to no node. */
    public NodeInformer(Clock clock, Now now, Heartbeats heartbeats, Predicate<Lease> isCanary, Handler handler) {
        this.clock = clock;
        this.now = now;
        this.heartbeats = heartbeats;
        this.isCanary = isCanary;
        this.handler = handler;
    }

    /** Receives the leases in {@link Lease#NODE_NAMESPACE}. */
    public Reflector.RawHandler leases() {
        return new LeaseHandler();
    }

    /** Receives the nodes. */
    public Reflector.Handler nodes() {
        return new NodeHandler();
    }

    /** Whether leases and nodes were listed. */
    public boolean isComplete() {
        return nodesListed;
    }

    @Override
    public void saw(NodeHealth health, Node node, Heartbeats.Source source) {
        String before = health.ready();
        String version = health.version();
        long time = now.nanos();
        Sign sign = heartbeats.saw(health, node, source, time);
        if (listingNodes && !health.version().equals(version)) {
            changedMeanwhile.add(health);
        }
        if (sign != Sign.Plain.OUTDATED) {
            heard(health, sign, time);
            handler.changed(new NodeChange.Seen(health, node, before, sign.isLife()));
        }
    }

    @Override
    public void saw(Lease lease, Heartbeats.Source source) {
        long time = now.nanos();
        long version = heartbeats.leaseVersion(lease.name());
        Sign sign = heartbeats.saw(lease, source, time);
        if (listingLeases && heartbeats.leaseVersion(lease.name()) != version) {
            leasesChangedMeanwhile.add(lease.name());
        }
        if (sign.isLife()) {
            heartbeats.find(lease.name()).ifPresent(health -> heard(health, sign, time));
        }
    }

    private void heard(NodeHealth health, Sign sign, long time) {
        if (sign.isLife()) {
            handler.heard(health, sign, time);
        }
    }

    private void add(Node node, Duration silentFor) {
        handler.changed(new NodeChange.Added(heartbeats.add(node, now.nanos(), silentFor), node));
    }

    private void remove(NodeHealth health) {
        changedMeanwhile.remove(health);
        heartbeats.remove(health);
        handler.changed(new NodeChange.Removed(health));
    }

    /** Reports leases without a node, including those that were listed before the nodes. */
    private void reportOrphans() {
        if (nodesListed) {
            heartbeats
                    .leasesWithoutNode()
                    .forEach(name -> handler.changed(new NodeChange.LeaseWithoutNode(name, true)));
        }
    }

    /** After a restore of the server's data, only lists and reads can tell that older versions count again. */
    private static Heartbeats.Source source(boolean isOvertaken) {
        return isOvertaken ? Heartbeats.Source.LATE : Heartbeats.Source.LIVE;
    }

    private final class LeaseHandler implements Reflector.RawHandler {
        private final LeaseLine scanned = new LeaseLine();

        @Override
        public void onListing() {
            listingLeases = true;
            leasesChangedMeanwhile.clear();
        }

        /** The hot path: a renewal of a known node goes from the bytes to its new deadline and creates no object. */
        @Override
        public long onRawEvent(byte[] line, int from, int to) {
            if (!scanned.scan(line, from, to) || scanned.isDeletion() || !scanned.isIn(Lease.NODE_NAMESPACE)) {
                return NOT_TAKEN;
            }
            NodeHealth health = heartbeats.find(scanned);
            if (health == null) {
                return NOT_TAKEN;
            }
            long time = now.nanos();
            heard(health, heartbeats.saw(health, scanned, time), time);
            handler.settled();
            return scanned.resourceVersion();
        }

        @Override
        public JsonObject reduced(JsonObject object) {
            return ListedParts.ofLease(object);
        }

        @Override
        public void onReplace(List<JsonObject> objects) {
            Set<String> overtaken = Set.copyOf(leasesChangedMeanwhile);
            listingLeases = false;
            leasesChangedMeanwhile.clear();
            List<Lease> leases = objects.stream()
                    .map(Lease::new)
                    .filter(lease -> !isCanary.test(lease))
                    .toList();
            // One that was created meanwhile comes by the watch.
            heartbeats.leasesListed(leases.stream().map(Lease::name).collect(Collectors.toSet()));
            leases.forEach(lease -> saw(lease, source(overtaken.contains(lease.name()))));
            if (!leasesListed) {
                leasesListed = true;
                handler.changed(new NodeChange.FirstLeases());
            }
            reportOrphans();
            handler.settled();
        }

        @Override
        public void onChange(JsonObject object) {
            Lease lease = new Lease(object);
            if (!isCanary.test(lease)) {
                saw(lease, Heartbeats.Source.LATE);
                if (nodesListed && heartbeats.find(lease.name()).isEmpty()) {
                    handler.changed(new NodeChange.LeaseWithoutNode(lease.name(), false));
                }
            }
            handler.settled();
        }

        @Override
        public void onDelete(JsonObject object) {
            String name = new Lease(object).name();
            heartbeats.leaseGone(name);
            handler.changed(new NodeChange.LeaseRemoved(name));
            handler.settled();
        }
    }

    private final class NodeHandler implements Reflector.Handler {
        @Override
        public void onListing() {
            listingNodes = true;
            changedMeanwhile.clear();
        }

        @Override
        public JsonObject reduced(JsonObject object) {
            return ListedParts.ofNode(object);
        }

        @Override
        public void onReplace(List<JsonObject> objects) {
            Set<NodeHealth> overtaken = Set.copyOf(changedMeanwhile);
            listingNodes = false;
            changedMeanwhile.clear();
            List<Node> listed = objects.stream().map(Node::new).toList();
            handler.changed(new NodeChange.NodesListing());
            heartbeats.missingFrom(listed).forEach(NodeInformer.this::remove);
            for (Node node : listed) {
                heartbeats
                        .find(node.name())
                        .ifPresentOrElse(
                                health -> saw(health, node, source(overtaken.contains(health))),
                                () -> add(node, age(node)));
            }
            handler.changed(new NodeChange.NodesListed());
            if (!nodesListed) {
                nodesListed = true;
                handler.changed(new NodeChange.FirstNodes(listed.size()));
            }
            reportOrphans();
            handler.settled();
        }

        /** Only a node that existed before this controller started can have been silent for long. */
        private Duration age(Node node) {
            return nodesListed ? Duration.ZERO : Heartbeats.silence(node, clock.wallTime());
        }

        @Override
        public void onChange(JsonObject object) {
            Node node = new Node(object);
            NodeHealth health = heartbeats.find(node.name()).orElse(null);
            if (health != null && !health.uid().equals(node.uid())) {
                if (!Versions.isNewer(node.resourceVersion(), health.version())) {
                    return;
                }
                remove(health);
                health = null;
            }
            if (health == null) {
                add(node, Duration.ZERO);
            } else {
                saw(health, node, Heartbeats.Source.LATE);
            }
            handler.settled();
        }

        @Override
        public void onDelete(JsonObject object) {
            Node node = new Node(object);
            heartbeats
                    .find(node.name())
                    .filter(health -> health.uid().equals(node.uid()))
                    .ifPresent(NodeInformer.this::remove);
            handler.settled();
        }
    }
}
