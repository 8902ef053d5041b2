package io.nodekeeper.agent.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Creates and registers metrics. Histograms have classic buckets only, which use less memory. Nothing here is traced, so there
 * are no exemplars: looking for one would set a timer after each observation. The controller has a class
 * like this: the modules that both may use serve clients without metrics, and do not depend on the metrics library.
 */
record MetricFactory(PrometheusRegistry registry) {

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

    /** A gauge whose value is read at each scrape, on any thread. */
    void gauge(String name, String help, Consumer<GaugeWithCallback.Callback> scrape, String... labels) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(labels)
                .callback(scrape)
                .register(registry);
    }

    /** A counter whose values are read at each scrape, on any thread. */
    void counter(String name, String help, Consumer<CounterWithCallback.Callback> scrape, String... labels) {
        CounterWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(labels)
                .callback(scrape)
                .register(registry);
    }

    /** A gauge without labels that is absent until it has a value; a plain gauge would report 0. */
    void lateGauge(String name, String help, Supplier<OptionalDouble> value) {
        gauge(name, help, callback -> value.get().ifPresent(callback::call));
    }
}
