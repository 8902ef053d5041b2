package io.nodekeeper.agent.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Makes registered metrics, all in the same plain way: histograms have classic buckets alone, which cost little memory. */
record MetricFactory(PrometheusRegistry registry) {

    Gauge gauge(String name, String help, String... labels) {
        return Gauge.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    Counter counter(String name, String help, String... labels) {
        return Counter.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    Histogram histogram(String name, String help, double[] buckets, String... labels) {
        return Histogram.builder()
                .name(name)
                .help(help)
                .classicOnly()
                .classicUpperBounds(buckets)
                .labelNames(labels)
                .register(registry);
    }

    /** A gauge that is looked up at each scrape, on any thread. */
    void gauge(String name, String help, Consumer<GaugeWithCallback.Callback> scrape, String... labels) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(labels)
                .callback(scrape)
                .register(registry);
    }

    /** A gauge without labels that is absent until it has a value; a plain one would begin as 0, which is a lie here. */
    void lateGauge(String name, String help, Supplier<OptionalDouble> value) {
        gauge(name, help, callback -> value.get().ifPresent(callback::call));
    }
}
