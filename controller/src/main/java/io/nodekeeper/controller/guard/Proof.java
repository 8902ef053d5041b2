package io.nodekeeper.controller.guard;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.controller.history.Evidence;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.observer.StalledHop;
import java.time.Duration;
import java.time.Instant;

/**
 * Why a write that blames a node is wrong.
 *
 * @param blame the write
 * @param renewTime of the node's lease, read live
 * @param silence how long the node had been silent when that could last be seen; less than {@code grace}
 * @param stalled how much time since the renewal is not part of {@code silence}, because the control plane had stalled
 * @param grace the grace period
 * @param sight what our own controller sees
 */
public record Proof(
        Blame blame, Instant renewTime, Duration silence, Duration stalled, Duration grace, OwnSight sight) {
    private static final Duration LONGEST = Duration.ofDays(36_525);

    /** One sentence for people. */
    public String text() {
        String lease = "node " + blame.node() + " renewed its lease " + span(silence);
        return sight instanceof OwnSight.Blind blind && blind.hop() != StalledHop.CONTROLLER
                ? lease + " before the control plane stalled (" + blind.hop() + ", for " + span(blind.since()) + ")"
                        + without(stalled) + ", within the grace of " + span(grace)
                : lease + " ago" + without(stalled) + ", within the grace of " + span(grace);
    }

    /** What a span of silence does not contain, in words; empty for nothing. */
    static String without(Duration stalled) {
        return stalled.isZero() ? "" : ", not counting " + span(stalled) + " in which the control plane stalled";
    }

    /** A span as people read it. A renewTime is input: it may lie thousands of years away. */
    static String span(Duration span) {
        return span.compareTo(LONGEST) > 0 ? "more than 100 years" : Ages.text(span.toNanos());
    }

    /** The facts, for the history. */
    Evidence evidence() {
        Evidence evidence = new Evidence()
                .fact("write", blame.text())
                .fact("user", blame.user())
                .signal("lease")
                .sentAt(KubeTime.formatMicro(renewTime))
                .silence(silence)
                .grace(grace);
        if (!stalled.isZero()) {
            evidence.fact("stalled", span(stalled));
        }
        return evidence.sight(
                switch (sight) {
                    case OwnSight.Sees sees -> "sees";
                    case OwnSight.Blind blind ->
                        "blind for " + span(blind.since()) + ": " + blind.hop().meaning();
                    case OwnSight.Unknown unknown -> unknown.why();
                });
    }
}
