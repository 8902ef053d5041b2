package io.nodekeeper.controller.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.List;

/**
 * The metrics of a controller that only observes. Outcomes are words in snake case: {@code both}, {@code ours_alone},
 * {@code theirs_alone}, {@code theirs_false} and {@code dropped}. Thread-safe, with one writer.
 */
public final class ObserveMetrics {
    /** The outcomes, all present from the start, so that increases are seen. */
    private static final List<String> OUTCOMES =
            List.of("both", "ours_alone", "theirs_alone", "theirs_false", "dropped");

    private final Counter withheld;
    private final Counter outcomes;
    private final Gauge waiting;
    private final Histogram leads;
    private final Histogram delays;

    /** Registers the metrics among {@code all}. */
    public ObserveMetrics(ControllerMetrics all) {
        Instruments make = new Instruments(all.registry());
        withheld = make.counter(
                "nodekeeper_observe_withheld_writes_total",
                "Number of writes that were not sent, by HTTP method and resource.",
                "method",
                "resource");
        outcomes = make.counter(
                "nodekeeper_observe_changes_total",
                "Number of changes by who made them: both, ours_alone, theirs_alone, theirs_false, or dropped if too"
                        + " many waited.",
                "outcome");
        waiting = make.gauge(
                "nodekeeper_observe_waiting_changes", "Number of changes that one controller made so far, not both.");
        // From a tenth of a second, a fast API server, to the window of 10 min.
        double[] buckets = Instruments.powers(0.1, 2.5, 10);
        leads = make.histogram(
                "nodekeeper_observe_lead_seconds",
                "Time by which this controller was earlier, for changes that both made and this one first.",
                buckets);
        delays = make.histogram(
                "nodekeeper_observe_delay_seconds",
                "Time by which this controller was later, for changes that both made and the other one first.",
                buckets);
        OUTCOMES.forEach(outcomes::initLabelValues);
    }

    /** A write was not sent. */
    public void withheld(String method, String resource) {
        withheld.labelValues(method, resource).inc();
    }

    /** The number of changes with this outcome is {@code total} by now. */
    public void changes(String outcome, int total) {
        CounterDataPoint count = outcomes.labelValues(outcome);
        count.inc(Math.max(0, total - count.get()));
    }

    /** Both made a change, and this controller was earlier by so many seconds; negative if it was later. */
    public void both(double lead) {
        if (lead < 0) {
            delays.observe(-lead);
        } else {
            leads.observe(lead);
        }
    }

    /** The number of changes that wait for the other side. */
    public void waiting(int changes) {
        waiting.set(changes);
    }
}
