package io.nodekeeper.controller;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.scan.LeaseLine;
import io.nodekeeper.controller.pods.Workload;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who is there: takes in what lists and watches tell of nodes and leases, and hands each news on to those whom it concerns.
 * A node that was recreated is another node. Confined to the loop.
 */
final class Roster {
    /** Hears how far the roster is. */
    interface Listener {
        /** The leases are known, so nodes can be listed. */
        void leasesKnown();

        /** The nodes are known, too. */
        void nodesKnown();

        /** Deadlines may have changed. */
        void changed();
    }

    private static final Logger log = LoggerFactory.getLogger(Roster.class);

    private final Clock clock;
    private final Judge.Now now;
    private final Heartbeats heartbeats;
    private final Canary canary;
    private final Optional<EarlyWarning> warning;
    private final Optional<Flaps> flaps;
    private final Zones zones;
    private final Workload workload;
    /** Zones before taints, as they say what may be done about those. */
    private final List<NodeFollower> followers;

    private final Explanations explanations;
    private final NodeEvents events;
    private final boolean announces;
    private final Listener listener;
    private boolean leasesListed;
    private boolean nodesListed;

    /** {@code announces} says whether comings and goings are told here, and not by the reference's pass. */
    Roster(
            Clock clock,
            Judge.Now now,
            Heartbeats heartbeats,
            Canary canary,
            Optional<EarlyWarning> warning,
            Optional<Flaps> flaps,
            Zones zones,
            Workload workload,
            List<NodeFollower> followers,
            Explanations explanations,
            NodeEvents events,
            boolean announces,
            Listener listener) {
        this.clock = clock;
        this.now = now;
        this.heartbeats = heartbeats;
        this.canary = canary;
        this.warning = warning;
        this.flaps = flaps;
        this.zones = zones;
        this.workload = workload;
        this.followers = followers;
        this.explanations = explanations;
        this.events = events;
        this.announces = announces;
        this.listener = listener;
    }

    /** What has to be told of leases. */
    Reflector.RawHandler leases() {
        return new LeaseHandler();
    }

    /** What has to be told of nodes. */
    Reflector.Handler nodes() {
        return new NodeHandler();
    }

    /** Whether leases and nodes are known. */
    boolean isComplete() {
        return nodesListed;
    }

    /** A state of a known node was seen. */
    void saw(NodeHealth health, Node node, Heartbeats.Source source) {
        String before = health.ready;
        if (heartbeats.saw(health, node, source, now.nanos())) {
            flaps.ifPresent(damping -> damping.changed(health, before));
            followers.forEach(follower -> follower.seen(health, node));
        }
    }

    private void add(Node node, Duration silentFor) {
        NodeHealth health = heartbeats.add(node, now.nanos(), silentFor);
        if (announces) {
            log.info("Node {} is followed (uid {})", health.name, health.uid);
            explanations.registered(health);
            events.registered(health.name, health.uid);
        }
        flaps.ifPresent(damping -> damping.added(health, node));
        followers.forEach(follower -> follower.seen(health, node));
    }

    private void remove(NodeHealth health) {
        heartbeats.remove(health);
        warning.ifPresent(early -> early.settled(health));
        flaps.ifPresent(damping -> damping.gone(health));
        followers.forEach(follower -> follower.gone(health));
        if (announces) {
            log.info("Node {} is gone (uid {})", health.name, health.uid);
            explanations.removed(health);
            events.removing(health.name, health.uid);
        }
    }

    /** Leases that were listed without their nodes are orphans as much as those that lose theirs later. */
    private void orphanedAll() {
        if (nodesListed) {
            heartbeats.leasesWithoutNode().forEach(workload::leaseListed);
        }
    }

    private void orphaned(String lease) {
        if (nodesListed && heartbeats.find(lease).isEmpty()) {
            workload.leaseSeen(lease);
        }
    }

    private final class LeaseHandler implements Reflector.RawHandler {
        private final LeaseLine scanned = new LeaseLine();

        /** The hot path: a renewal of a known node costs no object. */
        @Override
        public long onRawEvent(byte[] line, int from, int to) {
            if (!scanned.scan(line, from, to) || scanned.isDeletion() || !scanned.isIn(Lease.NODE_NAMESPACE)) {
                return NOT_TAKEN;
            }
            NodeHealth health = heartbeats.find(scanned);
            if (health == null) {
                return NOT_TAKEN;
            }
            heartbeats.saw(health, scanned, now.nanos());
            canary.settle();
            listener.changed();
            return scanned.resourceVersion();
        }

        @Override
        public void onReplace(List<JsonObject> objects) {
            heartbeats.sawAllLeases(
                    objects.stream()
                            .map(Lease::new)
                            .filter(lease -> !canary.saw(lease, ObserverGuard.Means.WATCH))
                            .toList(),
                    now.nanos());
            canary.settle();
            if (!leasesListed) {
                leasesListed = true;
                listener.leasesKnown();
            }
            orphanedAll();
            listener.changed();
        }

        @Override
        public void onChange(JsonObject object) {
            Lease lease = new Lease(object);
            if (!canary.saw(lease, ObserverGuard.Means.WATCH)) {
                heartbeats.saw(lease, Heartbeats.Source.LATE, now.nanos());
                orphaned(lease.name());
                listener.changed();
            }
            canary.settle();
        }

        @Override
        public void onDelete(JsonObject object) {
            String name = new Lease(object).name();
            heartbeats.leaseGone(name);
            workload.leaseGone(name);
        }
    }

    private final class NodeHandler implements Reflector.Handler {
        @Override
        public void onReplace(List<JsonObject> objects) {
            List<Node> listed = objects.stream().map(Node::new).toList();
            zones.listing();
            heartbeats.missingFrom(listed).forEach(Roster.this::remove);
            for (Node node : listed) {
                heartbeats
                        .find(node.name())
                        .ifPresentOrElse(
                                health -> saw(health, node, Heartbeats.Source.LIVE), () -> add(node, age(node)));
            }
            zones.listed();
            if (!nodesListed) {
                nodesListed = true;
                workload.nodesListed();
                listener.nodesKnown();
                log.info("following {} nodes", listed.size());
            }
            orphanedAll();
            listener.changed();
        }

        /** Only of what was there before this controller can be said that it has been silent for long. */
        private Duration age(Node node) {
            return nodesListed ? Duration.ZERO : Heartbeats.silence(node, clock.wallTime());
        }

        @Override
        public void onChange(JsonObject object) {
            Node node = new Node(object);
            NodeHealth health = heartbeats.find(node.name()).orElse(null);
            if (health != null && !health.uid.equals(node.uid())) {
                if (!Versions.isNewer(node.resourceVersion(), health.version)) {
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
            listener.changed();
        }

        @Override
        public void onDelete(JsonObject object) {
            Node node = new Node(object);
            heartbeats
                    .find(node.name())
                    .filter(health -> health.uid.equals(node.uid()))
                    .ifPresent(Roster.this::remove);
        }
    }
}
