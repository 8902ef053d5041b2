package io.nodekeeper.controller.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.List;

/** The metrics of guard mode. Times are seconds. Thread-safe. */
public final class GuardMetrics {
    private static final List<String> VERDICTS = List.of(
            "untouched", "allowed", "would_refuse", "refused", "over_budget", "switched_off", "trouble", "malformed");

    private final Counter reviews;
    private final Histogram duration;
    private final Gauge nodes;
    private final Gauge enforces;
    private final Gauge expiry;
    private final Gauge mismatch;

    /** Registers the metrics among {@code all}. */
    public GuardMetrics(ControllerMetrics all) {
        Instruments make = new Instruments(all.registry());
        reviews = make.counter(
                "nodekeeper_guard_reviews_total",
                "Number of admission reviews, by verdict: " + String.join(", ", VERDICTS) + ".",
                "verdict");
        // From the start, so that the first increase is seen.
        VERDICTS.forEach(reviews::initLabelValues);
        duration = make.histogram(
                "nodekeeper_guard_review_duration_seconds",
                "Duration of a review from its last byte to the answer.",
                Instruments.powers(0.0005, 2, 12));
        nodes = make.gauge("nodekeeper_guard_protected_nodes", "Number of nodes that the current episode protected.");
        enforces = make.gauge("nodekeeper_guard_enforces", "1 if the guard refuses writes, 0 if it lets them pass.");
        expiry = make.gauge(
                "nodekeeper_guard_certificate_expiration_seconds",
                "When the serving certificate expires, in seconds since 1970; 0 without a certificate.");
        mismatch = make.gauge(
                "nodekeeper_guard_certificate_mismatch",
                "1 if the webhook configuration does not trust the serving certificate, so that all writes pass; 0 if it"
                        + " does, or if there is no configuration.");
    }

    /** A review got {@code verdict}, a word such as {@code refused}, after this time. */
    public void reviewed(String verdict, double seconds) {
        reviews.labelValues(verdict).inc();
        duration.observe(seconds);
    }

    /** The number of nodes that the current episode protected. */
    public void protectedNodes(int count) {
        nodes.set(count);
    }

    /** Whether the guard refuses writes at present. */
    public void enforces(boolean refuses) {
        enforces.set(refuses ? 1 : 0);
    }

    /** When the serving certificate expires, seconds since 1970. */
    public void certificateExpires(long seconds) {
        expiry.set(seconds);
    }

    /** Whether the webhook configuration does not trust the serving certificate. */
    public void certificateMismatch(boolean found) {
        mismatch.set(found ? 1 : 0);
    }
}
