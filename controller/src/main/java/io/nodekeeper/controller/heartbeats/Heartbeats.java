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
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The signs of life of all nodes. A sign of life is a value that only the agent reports and that differs from the one seen
 * before, in whichever direction: {@code renewTime} of the lease that the node holds, and the heartbeat and the status of
 * its Ready condition. Reported times are never compared with a clock, as nodes' clocks are wrong now and then. Ages run by the
 * controller's own monotonic clock from when it noticed, less the time that it could not see ({@link ObserverGuard}).
 *
 * <p>Reports come from lists, watches and single reads, and a watch may lag behind the others: what it tells of a version
 * that was seen already is ignored, lest an old renewal count twice. Confined to the loop.
 */
public final class Heartbeats {
    /** How a report came in. */
    public enum Source {
        /** From a list or a single read: the truth of this moment, even if it is of an older version. */
        LIVE,
        /** From a watch, or as the answer to a write, either of which newer reports may have overtaken. */
        LATE
    }

    /** Twice the nodes of the largest clusters; the reference, whose defect this is, keeps all for ever. */
    private static final int MAX_HEIRS = 10_000;
    /** Keeps sums of times from overflowing: 73 years. */
    private static final long MAX_GRACE = Long.MAX_VALUE / 4;

    private final ByteKeyTable<NodeHealth> byName = new ByteKeyTable<>();
    private final DeadlineWheel<NodeHealth> wheel;
    private final long grace;
    private final long startupGrace;
    private final ObserverGuard guard;
    /** Silence before this moment on the nodes' clock is held against nobody. */
    private long clearSince = Long.MIN_VALUE / 2;

    /** Whether a node takes over when a removed node of its name was last heard, as with the reference. */
    private final boolean keepsHeirs;
    /** Whether any change of {@code renewTime} is a renewal, and not only a later time. */
    private final boolean clockImmune;

    private final Suspicion suspicion;
    /** Whether each node has a grace of its own. */
    private final boolean adaptive;
    /**
     * When a node of that name was last heard, for those that are gone; only without {@code StateByUid}. At most
     * {@link #MAX_HEIRS}, the oldest go.
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

    /** All nodes there are. */
    public List<NodeHealth> nodes() {
        List<NodeHealth> known = new ArrayList<>();
        byName.forEach(health -> {
            if (health.known()) {
                known.add(health);
            }
        });
        return known;
    }

    /** The node whose name these bytes are, if it and its lease are known, else null: no renewal may cost an object. */
    @Nullable
    NodeHealth find(LeaseLine line) {
        NodeHealth health = byName.get(line.bytes(), line.nameFrom(), line.nameLength(), line.nameHash());
        return health != null && health.known() && health.hasLease() ? health : null;
    }

    /** How many entries each map holds. */
    public Map<String, Integer> sizes() {
        return Map.of("nodes and leases", byName.size(), "heirs", heirs.size());
    }

    /** How many names are remembered, those with a lease and no node included. */
    public int size() {
        return byName.size();
    }

    /**
     * A node that was not known gets a full grace from now.
     *
     * @param silentFor how long it is known to have been there without a report; 0 unless it never reported
     */
    public NodeHealth add(Node node, long now, Duration silentFor) {
        NodeHealth health = of(node.name());
        health.identify(node.uid(), node.resourceVersion());
        health.status.saw(node.ready());
        // Its lease was seen for the first time just now, which is a sign of life: it cannot be known when it was
        // renewed.
        Duration silence = health.hasLease() ? Duration.ZERO : silentFor;
        long heardAt = inherited(health)
                .orElse(guard.nodeTime(now) - Math.min(silence.toNanos(), startupGrace + DeadlineWheel.TICK_NANOS));
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

    private Optional<Long> inherited(NodeHealth health) {
        return Optional.ofNullable(heirs.get(health.name())).filter(heard -> !health.reported());
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

    /** Whether this is still what is known under its name, and not a removed or replaced node. */
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
        if (health.status.saw(node.ready())) {
            return heard(health, Signal.STATUS, false, now);
        }
        if (!health.ready().equals(before)) {
            // Another grace applies now, or none.
            arm(health);
        }
        return Sign.Plain.NONE;
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

    /** The watch delivered a state of the lease of a known node, and this is all that matters of it. */
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

    /** A lease is gone, which is no sign of life. */
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

    /** All leases were listed, and these are their names: the others are gone. */
    void leasesListed(Set<String> names) {
        List<String> gone = new ArrayList<>();
        byName.forEach(health -> {
            if (health.hasLease() && !names.contains(health.name())) {
                gone.add(health.name());
            }
        });
        gone.forEach(this::leaseGone);
    }

    /** The names of the leases whose nodes are not known. */
    List<String> leasesWithoutNode() {
        List<String> names = new ArrayList<>();
        byName.forEach(health -> {
            if (health.hasLease() && !health.known()) {
                names.add(health.name());
            }
        });
        return names;
    }

    /** Some lease that was seen, if there is one. */
    public Optional<String> anyLease(RandomGenerator random) {
        List<String> names = new ArrayList<>();
        byName.forEach(health -> {
            if (health.hasLease()) {
                names.add(health.name());
            }
        });
        return names.isEmpty() ? Optional.empty() : Optional.of(names.get(random.nextInt(names.size())));
    }

    /** Up to {@code most} names of leases that were seen, drawn at random. */
    public List<String> sample(RandomGenerator random, int most) {
        List<String> names = new ArrayList<>();
        byName.forEach(health -> {
            if (health.hasLease()) {
                names.add(health.name());
            }
        });
        for (int i = 0; i < Math.min(most, names.size()); i++) {
            Collections.swap(names, i, i + random.nextInt(names.size() - i));
        }
        return new ArrayList<>(names.subList(0, Math.min(most, names.size())));
    }

    /** The version of that lease that was seen last; 0 if there is none. */
    public long leaseVersion(String name) {
        NodeHealth health = byName.get(name);
        return health == null ? 0 : health.lease.version();
    }

    /** The known nodes that are none of {@code listed}, by UID. */
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

    /** The last moment on the nodes' clock at which the node's silence is still excused. */
    public long deadline(NodeHealth health) {
        return Math.max(health.last.heardAt(), clearSince) + grace(health);
    }

    /** Every node's silence counts from now on only. */
    public void forgive(long now) {
        clearSince = guard.nodeTime(now);
    }

    /** The silence that is not unusual for the node, nanoseconds; see {@link Suspicion#patience}. */
    long patience(NodeHealth health) {
        return suspicion.patience(health.rhythm);
    }

    /** The silence that the node is allowed, nanoseconds. */
    public long grace(NodeHealth health) {
        if (!health.reported()) {
            return startupGrace;
        }
        return adaptive ? suspicion.adaptiveGrace(health.rhythm) : grace;
    }

    /** Whether the node's silence is no longer excused. */
    boolean isOverdue(NodeHealth health, long now) {
        return isCurrent(health) && now > guard.whenNodeTime(deadline(health));
    }

    /**
     * Sets the node's deadline, unless nothing is left to be said about it: a node that is Unknown stays so. One that is
     * being judged is armed when that has come to an end.
     */
    void arm(NodeHealth health) {
        if (!health.isJudged()) {
            rearm(health);
        }
    }

    /** The same for a node whose judgement has come to an end. */
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

    /** The judgement of a node has ended that is not followed any more. */
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
