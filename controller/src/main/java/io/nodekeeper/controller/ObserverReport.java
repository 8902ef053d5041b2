package io.nodekeeper.controller;

import io.nodekeeper.controller.metrics.ControllerMetrics;
import java.time.Duration;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells people what became of the controller's sight: as a condition on the canary, an event, a metric. Confined to the loop. */
final class ObserverReport {
    private static final Logger log = LoggerFactory.getLogger(ObserverReport.class);

    /** Between two events of degraded judgement, at least: one that changes to and fro is seen in the metric. */
    private static final Duration QUIET = Duration.ofSeconds(30);

    private final Explanations explanations;
    private final NodeEvents events;
    private final ControllerMetrics metrics;
    private ObserverGuard.Judgement judgement = ObserverGuard.Judgement.FULL;
    private long toldAt = Long.MIN_VALUE / 2;
    /** Whether {@link #judgement} is still to be told. */
    private boolean untold;

    ObserverReport(Explanations explanations, NodeEvents events, ControllerMetrics metrics) {
        this.explanations = explanations;
        this.events = events;
        this.metrics = metrics;
        for (ObserverGuard.Hop hop : ObserverGuard.Hop.values()) {
            metrics.blind(hop.label(), false);
        }
        tellJudgement();
    }

    /** Sight was lost, found again, or the reason turned out to be another. The answer is a condition, as JSON. */
    String changed(ObserverGuard.Change change, long now) {
        String text = explanations.sight(change, now);
        log.warn("{}", text);
        for (ObserverGuard.Hop hop : ObserverGuard.Hop.values()) {
            metrics.blind(hop.label(), !(change instanceof ObserverGuard.Change.Sees) && hop == change.hop());
        }
        switch (change) {
            case ObserverGuard.Change.Blind blind -> events.blind(text);
            case ObserverGuard.Change.Renamed renamed -> events.blind(text);
            case ObserverGuard.Change.Sees sees -> events.sees(text);
        }
        return explanations.condition(change, text);
    }

    /** How sight is at this moment; called each period. */
    void ticked(ObserverGuard guard, long now) {
        metrics.canaryAge(guard.canaryAge(now) / 1e9);
        blindFor(guard.takeBlindTime());
        ObserverGuard.Judgement next = guard.judgement(now);
        if (next != judgement) {
            // That no node is judged any more, or that all is well again, is told by the change of sight.
            untold = next != ObserverGuard.Judgement.FULL
                    && (next != ObserverGuard.Judgement.NONE || judgement != ObserverGuard.Judgement.FULL);
            judgement = next;
            tellJudgement();
        }
        if (untold && now - toldAt >= QUIET.toNanos()) {
            untold = false;
            toldAt = now;
            String text = "judgement is degraded: " + next.meaning();
            log.warn("{}", text);
            explanations.degraded(next, text);
            events.degraded(text);
        }
    }

    /** Time of blindness, by hop, nanoseconds. */
    void blindFor(Map<ObserverGuard.Hop, Long> times) {
        times.forEach((hop, time) -> metrics.blindFor(hop.label(), time / 1e9));
    }

    private void tellJudgement() {
        for (ObserverGuard.Judgement one : ObserverGuard.Judgement.values()) {
            if (one != ObserverGuard.Judgement.FULL) {
                metrics.degraded(one.label(), one == judgement);
            }
        }
    }
}
