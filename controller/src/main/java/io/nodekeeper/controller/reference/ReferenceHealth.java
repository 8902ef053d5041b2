package io.nodekeeper.controller.reference;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.heartbeats.Versions;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Evaluates one node's heartbeat in a monitor pass exactly as Kubernetes' reference; see {@link MonitorPass} for the
 * pass. Pure: the state is an argument and a result. Times are the controller's monotonic nanoseconds.
 *
 * <p>Quirks of the reference, all of them kept:
 * <ul>
 * <li>A Ready condition that disappears does not count as a change, because the remembered status is overwritten first:
 *     the old time stays, now with the startup grace period.
 * <li>A new heartbeat drops the remembered lease. If the lease was not renewed at the same time, the next pass treats
 *     the old one as new and gives the node one more period.
 * <li>While the heartbeat's time is the same, nothing is remembered, whatever else changes in the condition.
 * </ul>
 */
final class ReferenceHealth {
    /** Keeps sums of times from overflowing: 73 years. */
    private static final long FOREVER = Long.MAX_VALUE / 4;

    /**
     * The observed state of a lease.
     *
     * @param renewTime as it was written; may be empty
     * @param version its resourceVersion
     * @param own whether the node holds it; an agent may leave the holder empty
     */
    record SeenLease(String renewTime, String version, boolean own) {
        static SeenLease of(Lease lease) {
            String holder = lease.holderIdentity();
            return new SeenLease(
                    lease.spec().text("renewTime"),
                    lease.resourceVersion(),
                    holder.isEmpty() || holder.equals(lease.name()));
        }

        private Optional<Instant> time() {
            return KubeTime.parse(renewTime);
        }
    }

    /**
     * The state of a node that is kept between passes.
     *
     * @param ready its Ready condition, if it had one
     * @param probe when a change of its heartbeat was last noticed
     * @param transition when a change of its Ready condition was last noticed; the reference keeps it and no longer
     *     uses it
     * @param lease the lease that last counted as a heartbeat
     */
    record Saved(Optional<Condition> ready, long probe, long transition, Optional<SeenLease> lease) {
        private static Saved fresh(Condition ready, long now, long transition) {
            return new Saved(Optional.of(ready), now, transition, Optional.empty());
        }

        /** The same with both times set to {@code now}: the grace period restarts. */
        Saved restarted(long now) {
            return new Saved(ready, now, now, lease);
        }

        private Saved credited(SeenLease renewed, long now) {
            return new Saved(ready, now, transition, Optional.of(renewed));
        }
    }

    /**
     * A node after its heartbeat was compared with the saved state.
     * @param saved the new state
     * @param observedReady the status of its Ready condition; {@code Unknown} if it has none
     * @param deadline the last moment of its grace
     */
    record Evaluation(Saved saved, String observedReady, long deadline) {}

    private final long grace;
    private final long startupGrace;
    private final boolean clockImmune;

    ReferenceHealth(ControllerConfig config, boolean clockImmune) {
        this.grace = Math.min(FOREVER, config.nodeMonitorGracePeriod().toNanos());
        this.startupGrace = Math.min(FOREVER, config.nodeStartupGracePeriod().toNanos());
        this.clockImmune = clockImmune;
    }

    /** Compares a node and its lease in the cache with the saved state. */
    Evaluation evaluate(Optional<Saved> before, Node node, Optional<SeenLease> cached, long now, Instant wallTime) {
        Optional<Condition> current = node.ready();
        Saved saved = current.map(ready -> reported(before, ready, now))
                .orElseGet(() -> neverReported(before, creation(node, now, wallTime)));
        // The lease is compared with the remembered one, even if that was dropped just now.
        Optional<SeenLease> known = before.flatMap(Saved::lease);
        Saved afterLease = cached.filter(lease -> isRenewal(known, lease))
                .map(lease -> saved.credited(lease, now))
                .orElse(saved);
        return new Evaluation(
                afterLease, current.map(Condition::status).orElse(Condition.UNKNOWN), deadline(afterLease, current));
    }

    /** Processes a lease that was read live; empty if it has nothing new. */
    Optional<Evaluation> evaluateLive(Evaluation evaluation, Node node, SeenLease live, long now) {
        if (!isRenewal(evaluation.saved().lease(), live)) {
            return Optional.empty();
        }
        Saved saved = evaluation.saved().credited(live, now);
        return Optional.of(new Evaluation(saved, evaluation.observedReady(), deadline(saved, node.ready())));
    }

    /**
     * The state after the verdict was written; the heartbeat's time stays.
     *
     * @param written the node as it was written
     * @param lease its newest lease
     */
    Saved written(Evaluation evaluation, Node written, Optional<SeenLease> lease, long now) {
        return new Saved(written.ready(), evaluation.saved().probe(), now, lease);
    }

    private Saved reported(Optional<Saved> before, Condition ready, long now) {
        Optional<Condition> known = before.flatMap(Saved::ready);
        if (before.isEmpty() || known.isEmpty()) {
            return Saved.fresh(ready, now, now);
        }
        if (same("lastHeartbeatTime", known.get(), ready)) {
            return before.get();
        }
        boolean sameTransition = same("lastTransitionTime", known.get(), ready);
        return Saved.fresh(ready, now, sameTransition ? before.get().transition() : now);
    }

    private static Saved neverReported(Optional<Saved> before, long creation) {
        return before.map(known -> new Saved(Optional.empty(), known.probe(), known.transition(), known.lease()))
                .orElseGet(() -> new Saved(Optional.empty(), creation, creation, Optional.empty()));
    }

    private long deadline(Saved saved, Optional<Condition> current) {
        return saved.probe() + (current.isPresent() ? grace : startupGrace);
    }

    private boolean isRenewal(Optional<SeenLease> known, SeenLease lease) {
        if (clockImmune) {
            return lease.own()
                    && lease.time().isPresent()
                    && known.map(before -> isAnother(before, lease)).orElse(true);
        }
        return known.map(before -> isLater(before, lease)).orElse(true);
    }

    /**
     * Whether the time by the node's clock is another one, in either direction. A version alone may be another client's
     * change, and a cache that lags behind a live read must not make an old lease count as new.
     */
    private static boolean isAnother(SeenLease before, SeenLease after) {
        boolean outdated =
                !after.version().equals(before.version()) && !Versions.isNewer(after.version(), before.version());
        return !outdated && !after.time().equals(before.time());
    }

    /** For the reference, only a later time by the node's clock is a renewal. */
    private static boolean isLater(SeenLease before, SeenLease after) {
        return before.time().isPresent()
                && after.time().isPresent()
                && before.time().get().isBefore(after.time().get());
    }

    /** The only place that compares the API server's clock with the controller's. */
    private static long creation(Node node, long now, Instant wallTime) {
        Duration limit = Duration.ofNanos(FOREVER);
        Duration age = node.creationTimestamp()
                .map(created -> Duration.between(created, wallTime))
                .filter(known -> known.abs().compareTo(limit) < 0)
                .orElse(limit);
        return now - age.toNanos();
    }

    private static boolean same(String field, Condition one, Condition other) {
        return one.json().text(field).equals(other.json().text(field));
    }
}
