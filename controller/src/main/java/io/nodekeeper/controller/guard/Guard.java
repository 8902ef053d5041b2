package io.nodekeeper.controller.guard;

import io.nodekeeper.controller.observer.StalledHop;
import java.time.Duration;
import java.time.Instant;

/**
 * Decides about writes that blame a node. It refuses only if it read the node's lease now, and the node had not been
 * silent for the grace period when that could last be seen: now while our own controller sees, and before the blindness
 * while it is blind. An earlier blindness does not count as silence either, because the nodes renew only some time after
 * it. Everything else passes. Pure, except for the budget that is passed in.
 *
 * @param grace the grace period of the cluster's node controller
 * @param enforce whether it refuses; otherwise it only warns
 */
public record Guard(Duration grace, boolean enforce) {
    /**
     * A renewTime that is further in the future proves nothing: the node's clock or ours is wrong. As much as a renewal
     * period of Kubernetes' agents.
     */
    static final Duration CLOCK_TOLERANCE = Duration.ofSeconds(10);

    /**
     * The verdict.
     *
     * @param blame the write
     * @param lease what the live read said
     * @param sight what our own controller sees
     * @param wall the time by the wall clock
     * @param budget is spent by a refusal, and by a warning
     * @param now the time for the budget, nanoseconds by the monotonic clock
     */
    public GuardVerdict decide(
            Blame blame, LiveLease lease, OwnSight sight, Instant wall, RefusalBudget budget, long now) {
        Instant renewed;
        switch (lease) {
            case LiveLease.Unread unread -> {
                return new GuardVerdict.Allow(GuardVerdict.Reason.TROUBLE, unread.why());
            }
            case LiveLease.NoProof none -> {
                return new GuardVerdict.Allow(GuardVerdict.Reason.UNPROVEN, none.why());
            }
            case LiveLease.Renewed read -> renewed = read.renewTime();
        }
        int nodes;
        Instant seenUntil = wall;
        switch (sight) {
            case OwnSight.Unknown unknown -> {
                return new GuardVerdict.Allow(GuardVerdict.Reason.TROUBLE, unknown.why());
            }
            case OwnSight.Sees sees -> nodes = sees.nodes();
            case OwnSight.Blind blind -> {
                nodes = blind.nodes();
                // A pause of this process says nothing about the nodes' renewals.
                seenUntil = blind.hop() == StalledHop.CONTROLLER ? wall : wall.minus(blind.since());
            }
        }
        if (renewed.isAfter(wall.plus(CLOCK_TOLERANCE))) {
            return new GuardVerdict.Allow(
                    GuardVerdict.Reason.UNPROVEN,
                    "the renewTime of the node's lease is " + Proof.span(Duration.between(wall, renewed))
                            + " in the future");
        }
        Duration stalled = Duration.ZERO;
        for (OwnSight.Past past : sight.past()) {
            stalled = stalled.plus(overlap(renewed, seenUntil, wall.minus(past.from()), wall.minus(past.until())));
        }
        Duration age = Duration.between(renewed, seenUntil).minus(stalled);
        Duration silence = age.isNegative() ? Duration.ZERO : age;
        if (silence.compareTo(grace) >= 0) {
            return new GuardVerdict.Allow(
                    GuardVerdict.Reason.UNPROVEN,
                    "the node is silent for " + Proof.span(silence) + Proof.without(stalled)
                            + ", longer than the grace of " + Proof.span(grace));
        }
        Proof proof = new Proof(blame, renewed, silence, stalled, grace, sight);
        if (!budget.admits(blame.node(), nodes, now)) {
            return new GuardVerdict.Allow(
                    GuardVerdict.Reason.OVER_BUDGET, "the budget is spent, though " + proof.text());
        }
        return enforce ? new GuardVerdict.Refuse(proof) : new GuardVerdict.AllowWithWarning(proof);
    }

    /** How long two spans of time overlap. */
    private static Duration overlap(Instant from, Instant until, Instant otherFrom, Instant otherUntil) {
        Instant begin = from.isAfter(otherFrom) ? from : otherFrom;
        Instant end = until.isBefore(otherUntil) ? until : otherUntil;
        return begin.isBefore(end) ? Duration.between(begin, end) : Duration.ZERO;
    }
}
