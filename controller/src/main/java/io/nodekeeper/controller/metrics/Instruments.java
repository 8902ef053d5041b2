package io.nodekeeper.controller.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/**
 * Creates and registers metrics. Histograms have classic buckets, as in Kubernetes. Nothing here is traced, so there are no
 * exemplars: looking for one would set a timer after each observation. The agent has a class like this: the
 * modules that both may use serve clients without metrics, and do not depend on the metrics library.
 */
record Instruments(PrometheusRegistry registry) {

    Gauge gauge(String name, String help, String... labels) {
        return Gauge.builder()
                .name(name)
                .help(help)
                .labelNames(labels)
                .withoutExemplars()
                .register(registry);
    }

    Counter counter(String name, String help, String... labels) {
        return Counter.builder()
                .name(name)
                .help(help)
                .labelNames(labels)
                .withoutExemplars()
                .register(registry);
    }

    Histogram histogram(String name, String help, double[] buckets, String... labels) {
        return Histogram.builder()
                .name(name)
                .help(help)
                .classicOnly()
                .classicUpperBounds(buckets)
                .labelNames(labels)
                .withoutExemplars()
                .register(registry);
    }

    /** {@code count} buckets, each {@code factor} times as wide as the one before. */
    static double[] powers(double first, double factor, int count) {
        double[] buckets = new double[count];
        for (int i = 0; i < count; i++) {
            buckets[i] = first * Math.pow(factor, i);
        }
        return buckets;
    }
}
