package io.nodekeeper.controller;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The signs of life of all nodes. A sign of life is a reported value that differs from the one seen before, in whichever
 * direction; reported times are never compared with a clock, as nodes' clocks are wrong now and then. Ages run by the
 * controller's own monotonic clock from when it noticed, less the time that it could not see ({@link ObserverGuard}).
 *
 * <p>Reports come from lists, watches and single reads, and a watch may lag behind the others: what it tells of a version
 * that was seen already is ignored, lest an old renewal count twice. Confined to the loop.
 */
final class Heartbeats {
    /** How a report came in. */
    enum Source {
        /** From a list or a single read: the truth of this moment, even if it is of an older version. */
        LIVE,
        /** From a watch, or as the answer to a write, either of which newer reports may have overtaken. */
        LATE
    }

    /** Keeps sums of times from overflowing: 73 years. */
    private static final long MAX_GRACE = Long.MAX_VALUE / 4;

    private final Map<String, NodeHealth> byName = new HashMap<>();
    private final DeadlineWheel<NodeHealth> wheel;
    private final long grace;
    private final long startupGrace;
    private final ObserverGuard guard;
    /** Silence before this moment on the nodes' clock is held against nobody. */
    private long clearSince = Long.MIN_VALUE / 2;

    private final FeatureGates gates;
    private final Explanations explanations;
    /** When a node of that name was last heard, for those that are gone; only without {@code StateByUid}. */
    private final Map<String, Long> heirs = new HashMap<>();

    Heartbeats(
            ControllerConfig config, ObserverGuard guard, DeadlineWheel<NodeHealth> wheel, Explanations explanations) {
        this.explanations = explanations;
        this.wheel = wheel;
        this.guard = guard;
        this.gates = config.gates();
        this.grace = Math.min(MAX_GRACE, config.nodeMonitorGracePeriod().toNanos());
        this.startupGrace = Math.min(MAX_GRACE, config.nodeStartupGracePeriod().toNanos());
    }

    /** The node of that name, if there is one. */
    Optional<NodeHealth> find(String name) {
        return Optional.ofNullable(byName.get(name)).filter(NodeHealth::known);
    }

    /** All nodes there are. */
    List<NodeHealth> nodes() {
        return byName.values().stream().filter(NodeHealth::known).toList();
    }

    /** How many names are remembered, those with a lease and no node included. */
    int size() {
        return byName.size();
    }

    /**
     * A node that was not known gets a full grace from now.
     *
     * @param silentFor how long it is known to have been there without a report; 0 unless it never reported
     */
    NodeHealth add(Node node, long now, Duration silentFor) {
        NodeHealth health = byName.computeIfAbsent(node.name(), NodeHealth::new);
        health.uid = node.uid();
        health.version = node.resourceVersion();
        remember(health, node);
        health.signal = NodeHealth.Signal.FIRST_SIGHT;
        health.arrivedAt = now;
        health.heardAt = inherited(health)
                .orElse(guard.nodeTime(now) - Math.min(silentFor.toNanos(), startupGrace + DeadlineWheel.TICK_NANOS));
        arm(health);
        return health;
    }

    private Optional<Long> inherited(NodeHealth health) {
        return Optional.ofNullable(heirs.get(health.name)).filter(heard -> !health.reported());
    }

    /** For how long a node without a report has existed, by the API server's clock: the one place where clocks are compared. */
    static Duration silence(Node node, Instant wallTime) {
        return node.ready().isPresent()
                ? Duration.ZERO
                : node.creationTimestamp()
                        .map(created -> Duration.between(created, wallTime))
                        .filter(Duration::isPositive)
                        .orElse(Duration.ZERO);
    }

    /** The node is gone; what was known of it is freed, its lease aside. */
    void remove(NodeHealth health) {
        wheel.cancel(health.deadline);
        byName.remove(health.name);
        if (!gates.has(FeatureGate.STATE_BY_UID)) {
            heirs.put(health.name, health.heardAt);
        }
        if (health.hasLease) {
            NodeHealth rest = new NodeHealth(health.name);
            rest.hasLease = true;
            rest.renewTime = health.renewTime;
            rest.leaseVersion = health.leaseVersion;
            byName.put(rest.name, rest);
        }
    }

    /** Whether this is still what is known under its name, and not a removed or replaced node. */
    boolean isCurrent(NodeHealth health) {
        return health.known() && byName.get(health.name) == health;
    }

    /** A state of a known node was seen; false if a newer one was seen before. */
    boolean saw(NodeHealth health, Node node, Source source, long now) {
        if (source == Source.LATE && !isNewer(node.resourceVersion(), health.version)) {
            return false;
        }
        health.version = node.resourceVersion();
        String before = health.ready;
        if (remember(health, node)) {
            heard(health, NodeHealth.Signal.STATUS, now);
        } else if (!health.ready.equals(before)) {
            // Another grace applies now, or none.
            arm(health);
        }
        return true;
    }

    /** A state of a lease was seen. */
    void saw(Lease lease, Source source, long now) {
        NodeHealth health = byName.get(lease.name());
        if (health == null) {
            health = new NodeHealth(lease.name());
            byName.put(health.name, health);
        }
        String version = lease.resourceVersion();
        if (source == Source.LATE && health.hasLease && !isNewer(version, health.leaseVersion)) {
            return;
        }
        String renewTime = lease.spec().text("renewTime");
        boolean changed = !health.hasLease
                || (gates.has(FeatureGate.CLOCK_IMMUNITY)
                        ? !version.equals(health.leaseVersion) || !renewTime.equals(health.renewTime)
                        : isLater(renewTime, health.renewTime));
        health.hasLease = true;
        health.leaseVersion = version;
        health.renewTime = renewTime;
        if (changed && health.known()) {
            heard(health, NodeHealth.Signal.LEASE, now);
        }
    }

    /** As the reference compares: by the nodes' own clocks. */
    private static boolean isLater(String renewTime, String seen) {
        return KubeTime.parse(renewTime)
                .filter(time -> KubeTime.parse(seen).map(time::isAfter).orElse(true))
                .isPresent();
    }

    /** A lease is gone, which is no sign of life. */
    void leaseGone(String name) {
        NodeHealth health = byName.get(name);
        if (health == null) {
            return;
        }
        health.hasLease = false;
        health.renewTime = "";
        health.leaseVersion = "";
        if (!health.known()) {
            byName.remove(name);
        }
    }

    /** These leases are all there are. */
    void sawAllLeases(Collection<Lease> leases, long now) {
        Map<String, Lease> listed = new HashMap<>();
        leases.forEach(lease -> listed.put(lease.name(), lease));
        for (NodeHealth health : new ArrayList<>(byName.values())) {
            if (health.hasLease && !listed.containsKey(health.name)) {
                leaseGone(health.name);
            }
        }
        listed.values().forEach(lease -> saw(lease, Source.LIVE, now));
    }

    /** Some lease that was seen, if there is one. */
    Optional<String> anyLease(RandomGenerator random) {
        List<String> names = byName.values().stream()
                .filter(health -> health.hasLease)
                .map(health -> health.name)
                .toList();
        return names.isEmpty() ? Optional.empty() : Optional.of(names.get(random.nextInt(names.size())));
    }

    /** The version of that lease that was seen last; empty if there is none. */
    String leaseVersion(String name) {
        NodeHealth health = byName.get(name);
        return health == null ? "" : health.leaseVersion;
    }

    /** The known nodes that are none of {@code listed}, by UID. */
    List<NodeHealth> missingFrom(Collection<? extends ApiObject> listed) {
        Map<String, String> uids = new HashMap<>();
        listed.forEach(node -> uids.put(node.name(), node.uid()));
        List<NodeHealth> missing = new ArrayList<>();
        for (NodeHealth health : byName.values()) {
            if (health.known() && !health.uid.equals(uids.get(health.name))) {
                missing.add(health);
            }
        }
        return missing;
    }

    /** The last moment on the nodes' clock at which the node's silence is still excused. */
    long deadline(NodeHealth health) {
        return Math.max(health.heardAt, clearSince) + grace(health);
    }

    /** Every node's silence counts from now on only. */
    void forgive(long now) {
        clearSince = guard.nodeTime(now);
    }

    /** The silence that the node is allowed, nanoseconds. */
    long grace(NodeHealth health) {
        return health.reported() ? grace : startupGrace;
    }

    /** Whether the node's silence is no longer excused. */
    boolean isOverdue(NodeHealth health, long now) {
        return isCurrent(health) && now > guard.whenNodeTime(deadline(health));
    }

    /** Sets the node's deadline, unless nothing is left to be said about it: a node that is Unknown stays so. */
    void arm(NodeHealth health) {
        if (health.ready.equals(Condition.UNKNOWN)) {
            wheel.cancel(health.deadline);
        } else {
            wheel.set(health.deadline, guard.whenNodeTime(deadline(health)));
        }
    }

    private void heard(NodeHealth health, NodeHealth.Signal signal, long now) {
        long silence = now - health.arrivedAt;
        boolean returned = health.silenced;
        health.silenced = false;
        health.signal = signal;
        health.heardAt = guard.nodeTime(now);
        health.arrivedAt = now;
        arm(health);
        if (returned) {
            explanations.returned(health, silence);
        }
    }

    /** Takes in the Ready condition; true if it shows a sign of life. */
    private static boolean remember(NodeHealth health, Node node) {
        Optional<Condition> condition = node.ready();
        String ready = condition.map(Condition::status).orElse("");
        String heartbeat =
                condition.map(c -> c.json().text("lastHeartbeatTime")).orElse("");
        // An agent never says Unknown of itself: that is a controller's word.
        boolean agentsWord = !ready.isEmpty() && !ready.equals(Condition.UNKNOWN);
        boolean progress = health.reported() && !ready.isEmpty()
                ? !heartbeat.equals(health.readyHeartbeat) || (agentsWord && !ready.equals(health.ready))
                : agentsWord;
        health.ready = ready;
        health.readyHeartbeat = heartbeat;
        return progress;
    }

    /** Whether {@code version} may be newer than {@code seen}: versions are compared as numbers if they are such. */
    static boolean isNewer(String version, String seen) {
        if (version.equals(seen)) {
            return false;
        }
        if (!isNumber(version) || !isNumber(seen)) {
            return true;
        }
        return version.length() != seen.length() ? version.length() > seen.length() : version.compareTo(seen) > 0;
    }

    private static boolean isNumber(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return !text.isEmpty();
    }

    /** A span of time as people read it, to the millisecond. */
    static String age(long nanos) {
        return GoDuration.format(Duration.ofMillis(nanos / 1_000_000));
    }
}
