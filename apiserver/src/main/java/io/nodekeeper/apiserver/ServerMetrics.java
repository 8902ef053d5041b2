package io.nodekeeper.apiserver;

import io.nodekeeper.store.Store;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/** What the server tells Prometheus, under kube-apiserver's names. Thread-safe. */
final class ServerMetrics {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Counter requests = Counter.builder()
            .name("apiserver_request_total")
            .help("Requests by verb, resource and HTTP code.")
            .labelNames("verb", "group", "version", "resource", "subresource", "scope", "code")
            .register(registry);
    private final Histogram durations = Histogram.builder()
            .name("apiserver_request_duration_seconds")
            .help("Time to answer, watches aside.")
            .labelNames("verb", "resource")
            .classicOnly()
            .classicUpperBounds(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
            .register(registry);
    private final Gauge inflight = Gauge.builder()
            .name("apiserver_current_inflight_requests")
            .help("Requests being answered, watches aside.")
            .labelNames("request_kind")
            .register(registry);
    private final Gauge watchers = Gauge.builder()
            .name("apiserver_longrunning_requests")
            .help("Watches open.")
            .labelNames("verb", "resource")
            .register(registry);

    private final LongAdder authenticated = new LongAdder();
    private final LongAdder unauthenticated = new LongAdder();

    ServerMetrics(Store store, Optional<AuditLog> audit) {
        GaugeWithCallback.builder()
                .name("authentication_attempts")
                .help("Requests by whether it could be found out who makes them.")
                .labelNames("result")
                .callback(callback -> {
                    callback.call((double) authenticated.sum(), "success");
                    callback.call((double) unauthenticated.sum(), "failure");
                })
                .register(registry);
        audit.ifPresent(log -> {
            CounterWithCallback.builder()
                    .name("apiserver_audit_event_total")
                    .help("Events that the audit log took.")
                    .callback(callback -> callback.call((double) log.taken()))
                    .register(registry);
            CounterWithCallback.builder()
                    .name("apiserver_audit_error_total")
                    .help("Events that the audit log lost.")
                    .callback(callback -> callback.call((double) log.lost()))
                    .register(registry);
        });
        GaugeWithCallback.builder()
                .name("apiserver_storage_objects")
                .help("Objects stored.")
                .labelNames("resource")
                .callback(callback -> Resources.ALL.stream().filter(Resource::isStored).forEach(resource -> callback.call(
                        store.list(resource.prefix(""), "", 0, 0).entries().size(),
                        resource.type().qualifiedName())))
                .register(registry);
        GaugeWithCallback.builder()
                .name("apiserver_storage_revision")
                .help("The revision of the latest change.")
                .callback(callback -> callback.call((double) store.revision()))
                .register(registry);
    }

    void started(RequestInfo info) {
        inflight.labelValues(kind(info)).inc();
    }

    void finished(RequestInfo info, int code, double seconds) {
        inflight.labelValues(kind(info)).dec();
        String verb = info.verb().toUpperCase(Locale.ROOT);
        // Only what the catalogue knows becomes a label: paths that clients make up must not become time series.
        var target = info.resource().filter(known -> Resources.find(known).isPresent());
        String resource = target.map(RequestInfo.Target::plural).orElse("");
        String subresource = target.map(RequestInfo.Target::subresource)
                .filter(name -> name.equals("status"))
                .orElse("");
        String scope = target.map(known ->
                        known.name().isEmpty() ? known.namespace().isEmpty() ? "cluster" : "namespace" : "resource")
                .orElse("");
        requests.labelValues(
                        VERBS.getOrDefault(verb, "other"),
                        target.map(RequestInfo.Target::group).orElse(""),
                        target.map(RequestInfo.Target::version).orElse(""),
                        resource,
                        subresource,
                        scope,
                        Integer.toString(code))
                .inc();
        if (!verb.equals("WATCH")) {
            durations.labelValues(VERBS.getOrDefault(verb, "other"), resource).observe(seconds);
        }
    }

    void authenticated(boolean success) {
        (success ? authenticated : unauthenticated).increment();
    }

    void watchOpened(Resource resource) {
        watchers.labelValues("WATCH", resource.type().plural()).inc();
    }

    void watchClosed(Resource resource) {
        watchers.labelValues("WATCH", resource.type().plural()).dec();
    }

    byte[] expose() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(out, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException("writing metrics to memory", e);
        }
        return out.toByteArray();
    }

    private static final Map<String, String> VERBS = Map.of(
            "GET",
            "GET",
            "LIST",
            "LIST",
            "WATCH",
            "WATCH",
            "CREATE",
            "POST",
            "UPDATE",
            "PUT",
            "PATCH",
            "PATCH",
            "DELETE",
            "DELETE",
            "DELETECOLLECTION",
            "DELETECOLLECTION");

    private static String kind(RequestInfo info) {
        return switch (info.verb()) {
            case "get", "list", "watch", "head" -> "readOnly";
            default -> "mutating";
        };
    }
}
