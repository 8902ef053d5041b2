package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.scan.ByteKeyTable;
import io.nodekeeper.client.scan.LeaseLine;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.config.DetectorConfig;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.time.DeadlineWheel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The heartbeats and deadlines of all nodes. A heartbeat is a change of a value that only the agent writes: {@code
 * renewTime} of the lease that the node holds, and the heartbeat time or the status of its Ready condition. A change in
 * either direction counts: the times are never compared with a clock, because clocks of nodes may be wrong. The age of
 * a heartbeat is the time since the controller saw it, by its own monotonic clock, without the time in which it could
 * not see ({@link ObserverGuard}).
 *
 * <p>States come from lists, watches and single reads. A watch may lag behind the others, so its event is ignored if
 * that version or a newer one was seen already: an old renewal must not count twice. Confined to the loop.
 */
public final class Heartbeats {
    /** Where a state comes from. */
    public enum Source {
        /**
         * A list or a single read, during which no other state of the object was seen: the current state, even if its
         * version is older.
         */
        LIVE,
        /**
         * A watch, the response to a write, or a list or read during which another state was seen: newer states may
         * have been seen already.
         */
        LATE
    }

    /** The most entries of {@link #heirs}: twice the nodes of the largest clusters. The reference has no limit. */
    private static final int MAX_HEIRS = 10_000;
    /** Keeps sums of times from overflowing: 73 years. */
    static final long MAX_GRACE = Long.MAX_VALUE / 4;

    private final ByteKeyTable<NodeHealth> byName = new ByteKeyTable<>();
    private final DeadlineWheel<NodeHealth> wheel;
    private final long grace;
    private final long startupGrace;
    private final ObserverGuard guard;
    /** Silence before this moment on the nodes' clock does not count. */
    private long clearSince = Long.MIN_VALUE / 2;

    /** Whether a node inherits the last heartbeat of a deleted node of its name, as in the reference. */
    private final boolean keepsHeirs;
    /** Whether any change of {@code renewTime} is a renewal, and not only a later time. */
    private final boolean clockImmune;

    private final Suspicion suspicion;
    /** Whether each node has its own grace period. */
    private final boolean adaptive;
    /**
     * The last heartbeats of deleted nodes, by name; only without {@code StateByUid}. At most {@link #MAX_HEIRS}; the
     * oldest are dropped.
     */
    private final Map<String, Long> heirs = new LinkedHashMap<>();

    public Heartbeats(ControllerConfig config, ObserverGuard guard, DeadlineWheel<NodeHealth> wheel) {
        this.suspicion = new Suspicion(config.detector(), config.nodeMonitorGracePeriod());
        this.adaptive = config.detector().kind() == DetectorConfig.Kind.ADAPTIVE;
        this.wheel = wheel;
        this.guard = guard;
        this.keepsHeirs = !config.stateByUid();
        this.clockImmune = config.clockImmune();
        this.grace = Math.min(MAX_GRACE, config.nodeMonitorGracePeriod().toNanos());
        this.startupGrace = Math.min(MAX_GRACE, config.nodeStartupGracePeriod().toNanos());
    }

    /** The node of that name, if there is one. */
    public Optional<NodeHealth> find(String name) {
        return Optional.ofNullable(byName.get(name)).filter(NodeHealth::known);
    }

    /** All existing nodes. */
    public List<NodeHealth> nodes() {
        List<NodeHealth> known = new ArrayList<>();
        byName.forEach(health -> {
            if (health.known()) {
                known.add(health);
            }
        });
        return known;
    }

    /** The node of the scanned lease if it and its lease are known, else null: a renewal must create no object. */
    @Nullable
    NodeHealth find(LeaseLine line) {
        NodeHealth health = byName.get(line.bytes(), line.nameFrom(), line.nameLength(), line.nameHash());
        return health != null && health.known() && health.hasLease() ? health : null;
    }

    /** The number of entries of each map, by name. */
    public Map<String, Integer> sizes() {
        return Map.of("nodes and leases", byName.size(), "heirs", heirs.size());
    }

    /**
     * Adds a node, with a full grace period from now.
     *
     * @param silentFor the known age of a node that never reported; 0 for other nodes
     */
    public NodeHealth add(Node node, long now, Duration silentFor) {
        NodeHealth health = of(node.name());
        health.identify(node.uid(), node.resourceVersion());
        health.status.saw(node.ready());
        // A lease that is seen for the first time is a heartbeat, because it is unknown when it was renewed.
        long silence = health.hasLease() ? 0 : atMost(silentFor, startupGrace + DeadlineWheel.TICK_NANOS);
        long heardAt = inherited(health).orElse(guard.nodeTime(now) - silence);
        health.last.set(Signal.FIRST_SIGHT, heardAt, now, guard.lost());
        arm(health);
        return health;
    }

    private NodeHealth of(String name) {
        NodeHealth health = byName.get(name);
        if (health == null) {
            health = new NodeHealth(name);
            byName.put(name, health);
        }
        return health;
    }

    /** The duration in nanoseconds, in which the age of a node of the year 1 does not fit. */
    private static long atMost(Duration duration, long most) {
        return duration.compareTo(Duration.ofNanos(most)) < 0 ? duration.toNanos() : most;
    }

    private Optional<Long> inherited(NodeHealth health) {
        return Optional.ofNullable(heirs.get(health.name())).filter(heard -> !health.reported());
    }

    /**
     * The age of a node without a report. The only place that compares the API server's clock with the controller's.
     */
    static Duration silence(Node node, Instant wallTime) {
        return node.ready().isPresent()
                ? Duration.ZERO
                : node.creationTimestamp()
                        .map(created -> Duration.between(created, wallTime))
                        .filter(Duration::isPositive)
                        .orElse(Duration.ZERO);
    }

    /** The node was deleted; drops its state except for its lease. */
    public void remove(NodeHealth health) {
        wheel.cancel(health.deadline());
        byName.remove(health.name());
        if (keepsHeirs) {
            heirs.put(health.name(), health.last.heardAt());
            if (heirs.size() > MAX_HEIRS) {
                heirs.remove(heirs.keySet().iterator().next());
            }
        }
        if (health.hasLease()) {
            byName.put(health.name(), new NodeHealth(health.name(), health.lease.copy()));
        }
    }

    /** Whether {@code health} is the current state of its name, and not that of a deleted or replaced node. */
    public boolean isCurrent(NodeHealth health) {
        return health.known() && byName.get(health.name()) == health;
    }

    /** A state of a known node was seen. */
    public Sign saw(NodeHealth health, Node node, Source source, long now) {
        if (source == Source.LATE && !Versions.isNewer(node.resourceVersion(), health.version())) {
            return Sign.Plain.OUTDATED;
        }
        health.version(node.resourceVersion());
        String before = health.ready();
        boolean alive = health.status.saw(node.ready());
        Sign sign = alive ? heard(health, Signal.STATUS, false, now) : Sign.Plain.NONE;
        if (health.ready().equals(Condition.UNKNOWN) && !before.equals(Condition.UNKNOWN)) {
            // An outage, whichever controller declared it, is no usual gap.
            suspicion.interrupted(health.rhythm);
        }
        if (!alive && !health.ready().equals(before)) {
            // Another grace period applies now, or none.
            arm(health);
        }
        return sign;
    }

    /** A state of a lease was seen. */
    public Sign saw(Lease lease, Source source, long now) {
        String holder = lease.holderIdentity();
        return saw(
                of(lease.name()),
                Versions.number(lease.resourceVersion()),
                micros(lease.spec().text("renewTime")),
                holder.isEmpty() || holder.equals(lease.name()),
                source,
                now);
    }

    /** The watch delivered a state of the lease of a known node, with these relevant parts. */
    Sign saw(NodeHealth health, LeaseLine line, long now) {
        return saw(
                health,
                line.resourceVersion(),
                line.renewMicros(),
                line.isHeldBy("") || line.isHeldBy(health.name()),
                Source.LATE,
                now);
    }

    private Sign saw(NodeHealth health, long version, long renewMicros, boolean own, Source source, long now) {
        LeaseState lease = health.lease;
        if (source == Source.LATE && !lease.isNews(version)) {
            return Sign.Plain.OUTDATED;
        }
        boolean changed = clockImmune ? own && lease.isRenewal(version, renewMicros) : lease.isLater(renewMicros);
        boolean renewed = lease.isRenewed(renewMicros) && source == Source.LATE;
        lease.saw(version, renewMicros, changed);
        return changed && health.known() ? heard(health, Signal.LEASE, renewed, now) : Sign.Plain.NONE;
    }

    /** Microseconds since 1970, or {@link LeaseLine#NO_TIME}. */
    private static long micros(String time) {
        return KubeTime.parse(time).map(KubeTime::micros).orElse(LeaseLine.NO_TIME);
    }

    /** A lease was deleted, which is not a heartbeat. */
    void leaseGone(String name) {
        NodeHealth health = byName.get(name);
        if (health == null) {
            return;
        }
        health.lease.removed();
        if (!health.known()) {
            byName.remove(name);
        }
    }

    /** The names of all existing leases; other leases were deleted. */
    void leasesListed(Set<String> names) {
        namesWhere(health -> health.hasLease() && !names.contains(health.name()))
                .forEach(this::leaseGone);
    }

    /** The names of the leases whose nodes are not known. */
    List<String> leasesWithoutNode() {
        return namesWhere(health -> health.hasLease() && !health.known());
    }

    /** The name of a random lease that was seen, if there is one. */
    public Optional<String> anyLease(RandomGenerator random) {
        return sample(random, 1).stream().findFirst();
    }

    /** Up to {@code most} random names of leases that were seen. */
    public List<String> sample(RandomGenerator random, int most) {
        List<String> names = namesWhere(NodeHealth::hasLease);
        int size = Math.min(most, names.size());
        for (int i = 0; i < size; i++) {
            Collections.swap(names, i, i + random.nextInt(names.size() - i));
        }
        return new ArrayList<>(names.subList(0, size));
    }

    private List<String> namesWhere(Predicate<NodeHealth> condition) {
        List<String> names = new ArrayList<>();
        byName.forEach(health -> {
            if (condition.test(health)) {
                names.add(health.name());
            }
        });
        return names;
    }

    /** The version of that lease that was seen last; 0 if there is none. */
    public long leaseVersion(String name) {
        NodeHealth health = byName.get(name);
        return health == null ? 0 : health.lease.version();
    }

    /** The known nodes that are not in {@code listed}, by UID. */
    List<NodeHealth> missingFrom(Collection<? extends ApiObject> listed) {
        Map<String, String> uids = new HashMap<>();
        listed.forEach(node -> uids.put(node.name(), node.uid()));
        List<NodeHealth> missing = new ArrayList<>();
        byName.forEach(health -> {
            if (health.known() && !health.uid().equals(uids.get(health.name()))) {
                missing.add(health);
            }
        });
        return missing;
    }

    /** The end of the node's grace period, on the nodes' clock. */
    public long deadline(NodeHealth health) {
        return Math.max(health.last.heardAt(), clearSince) + grace(health);
    }

    /** Restarts the grace period of every node. */
    public void forgive(long now) {
        clearSince = guard.nodeTime(now);
    }

    /** The usual time without a heartbeat, nanoseconds; see {@link Suspicion#patience}. */
    long patience(NodeHealth health) {
        return suspicion.patience(health.rhythm);
    }

    /** The node's grace period, nanoseconds. */
    public long grace(NodeHealth health) {
        if (!health.reported()) {
            return startupGrace;
        }
        return adaptive ? suspicion.adaptiveGrace(health.rhythm) : grace;
    }

    /**
     * Sets the node's deadline. A node that is Unknown has none. The deadline of a node under judgement is set when its
     * judgement ends.
     */
    void arm(NodeHealth health) {
        if (!health.isJudged()) {
            rearm(health);
        }
    }

    /** The same for a node whose judgement has ended. */
    public void rearm(NodeHealth health) {
        if (health.ready().equals(Condition.UNKNOWN)) {
            wheel.cancel(health.deadline());
            health.grace(GraceState.RESTING);
        } else {
            wheel.set(health.deadline(), guard.whenNodeTime(deadline(health)));
            health.grace(GraceState.ARMED);
        }
    }

    /** The node's deadline has passed and its judgement begins, or goes on. */
    public void judging(NodeHealth health) {
        health.grace(GraceState.JUDGED);
    }

    /** The judgement of a node that no longer exists has ended. */
    public void rest(NodeHealth health) {
        health.grace(GraceState.RESTING);
    }

    /** This controller declared the node Unknown. */
    public void silenced(NodeHealth health) {
        health.last.silence();
    }

    private Sign heard(NodeHealth health, Signal kind, boolean renewed, long now) {
        long silence = now - health.last.arrivedAt();
        boolean returned = health.last.silenced();
        long at = guard.nodeTime(now);
        if (returned) {
            suspicion.interrupted(health.rhythm);
        }
        // If the agent renews a lease, its other signals would only look like irregular renewals.
        if (kind == Signal.LEASE || !health.hasLease()) {
            suspicion.heard(health.rhythm, at);
        }
        health.last.set(kind, at, now, guard.lost());
        arm(health);
        if (returned) {
            return new Sign.Returned(silence, renewed);
        }
        return renewed ? Sign.Plain.RENEWED : Sign.Plain.HEARD;
    }
}
