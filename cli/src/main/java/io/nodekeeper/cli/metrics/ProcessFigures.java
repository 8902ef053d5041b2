package io.nodekeeper.cli.metrics;

import io.nodekeeper.client.Version;
import io.prometheus.metrics.core.metrics.Info;
import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmMemoryMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmRuntimeInfoMetric;
import io.prometheus.metrics.instrumentation.jvm.JvmThreadsMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/**
 * Metrics that every process has: {@code nodekeeper_build_info} with the version, {@code process_*} (processor time,
 * memory, open files, start) and {@code jvm_*} (heap, garbage collection, threads, the runtime's version), under the
 * names of Prometheus' client library. They are read at a scrape and cost nothing in between.
 */
public final class ProcessFigures {
    private ProcessFigures() {}

    /** Registers the metrics; once for each registry, at the start. Several components of one process share the values. */
    public static void register(PrometheusRegistry registry) {
        Info.builder()
                .name("nodekeeper_build_info")
                .help("1, with the version of Nodekeeper.")
                .labelNames("version")
                .register(registry)
                .setLabelValues(Version.current());
        ProcessMetrics.builder().register(registry);
        JvmRuntimeInfoMetric.builder().register(registry);
        JvmMemoryMetrics.builder().register(registry);
        JvmGarbageCollectorMetrics.builder().register(registry);
        JvmThreadsMetrics.builder().register(registry);
    }
}
