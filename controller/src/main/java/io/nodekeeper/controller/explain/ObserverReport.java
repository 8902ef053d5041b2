package io.nodekeeper.controller.explain;

import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.SightChange;
import io.nodekeeper.controller.observer.StalledHop;
import io.nodekeeper.controller.observer.VerdictBasis;
import java.time.Duration;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports changes of the controller's sight: as a condition on the canary, events and metrics. Confined to the loop.
 */
public final class ObserverReport {
    private static final Logger log = LoggerFactory.getLogger(ObserverReport.class);

    /** The shortest time between two events of degraded judgement; the metric shows faster changes. */
    private static final Duration QUIET = Duration.ofSeconds(30);

    private final Explanations explanations;
    private final NodeEvents events;
    private final ControllerMetrics metrics;
    private VerdictBasis judgement = VerdictBasis.FULL;
    private long reportedAt = Long.MIN_VALUE / 2;
    /** Whether {@link #judgement} has not been reported yet. */
    private boolean unreported;

    public ObserverReport(Explanations explanations, NodeEvents events, ControllerMetrics metrics) {
        this.explanations = explanations;
        this.events = events;
        this.metrics = metrics;
        for (StalledHop hop : StalledHop.values()) {
            metrics.blind(hop.label(), false);
        }
        updateMetrics();
    }

    /** Sight was lost or regained, or its cause has changed. Returns a condition as JSON. */
    public String changed(SightChange change, long now) {
        String text = explanations.sight(change, now);
        log.warn("{}", text);
        for (StalledHop hop : StalledHop.values()) {
            metrics.blind(hop.label(), !(change instanceof SightChange.Sees) && hop == change.hop());
        }
        switch (change) {
            case SightChange.Blind blind -> events.blind(text);
            case SightChange.Renamed renamed -> events.blind(text);
            case SightChange.Sees sees -> events.sees(text);
        }
        return explanations.condition(change, text);
    }

    /** Updates the metrics; called each period. */
    public void ticked(ObserverGuard guard, long now) {
        metrics.canaryAge(guard.canaryAge(now) / 1e9);
        blindFor(guard.takeBlindTime());
        VerdictBasis next = guard.judgement(now);
        if (next != judgement) {
            // The change of sight reports the beginning and the end of blindness.
            unreported = next != VerdictBasis.FULL && (next != VerdictBasis.NONE || judgement != VerdictBasis.FULL);
            judgement = next;
            updateMetrics();
        }
        if (unreported && now - reportedAt >= QUIET.toNanos()) {
            unreported = false;
            reportedAt = now;
            String text = "judgement is degraded: " + next.meaning();
            log.warn("{}", text);
            explanations.degraded(next, text);
            events.degraded(text);
        }
    }

    /** Counts time of blindness, nanoseconds by hop. */
    public void blindFor(Map<StalledHop, Long> times) {
        times.forEach((hop, time) -> metrics.blindFor(hop.label(), time / 1e9));
    }

    private void updateMetrics() {
        for (VerdictBasis one : VerdictBasis.values()) {
            if (one != VerdictBasis.FULL) {
                metrics.degraded(one.label(), one == judgement);
            }
        }
    }
}
