package io.nodekeeper.controller;

import io.nodekeeper.controller.metrics.ControllerMetrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells people what became of the controller's sight: as a condition on the canary, an event, a metric. Confined to the loop. */
final class ObserverReport {
    private static final Logger log = LoggerFactory.getLogger(ObserverReport.class);

    private final Explanations explanations;
    private final NodeEvents events;
    private final ControllerMetrics metrics;

    ObserverReport(Explanations explanations, NodeEvents events, ControllerMetrics metrics) {
        this.explanations = explanations;
        this.events = events;
        this.metrics = metrics;
        for (ObserverGuard.Hop hop : ObserverGuard.Hop.values()) {
            metrics.blind(hop.label(), false);
        }
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
            case ObserverGuard.Change.Sees(ObserverGuard.Hop hop, long lasted, long given) -> {
                metrics.blindFor(hop.label(), lasted / 1e9);
                events.sees(text);
            }
        }
        return explanations.condition(change, text);
    }

    /** The last proof of sight is this old, nanoseconds. */
    void proofAge(long nanos) {
        metrics.canaryAge(nanos / 1e9);
    }
}
