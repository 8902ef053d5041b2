package io.nodekeeper.apiserver.metrics;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.audit.AuditLog;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Clock;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;
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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;

/**
 * The server's metrics for Prometheus, with kube-apiserver's names. Nothing here is traced, so there are no exemplars: looking
 * for one would set a timer after each observation. Thread-safe.
 */
public final class ServerMetrics {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Counter requests = Counter.builder()
            .name("apiserver_request_total")
            .help("Number of requests by verb, resource and HTTP code.")
            .labelNames("verb", "group", "version", "resource", "subresource", "scope", "component", "dry_run", "code")
            .withoutExemplars()
            .register(registry);
    private final Histogram durations = Histogram.builder()
            .name("apiserver_request_duration_seconds")
            .help("Duration of requests other than watches.")
            .labelNames("verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component")
            .classicOnly()
            .classicUpperBounds(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
            .withoutExemplars()
            .register(registry);
    private final Gauge inflight = Gauge.builder()
            .name("apiserver_current_inflight_requests")
            .help("Current number of requests other than watches.")
            .labelNames("request_kind")
            .withoutExemplars()
            .register(registry);
    private final Gauge watchers = Gauge.builder()
            .name("apiserver_longrunning_requests")
            .help("Watches open.")
            .labelNames("verb", "resource")
            .withoutExemplars()
            .register(registry);

    private final Gauge registered = Gauge.builder()
            .name("apiserver_registered_watchers")
            .help("Current number of watches, by resource.")
            .labelNames("group", "version", "kind")
            .withoutExemplars()
            .register(registry);
    private final Histogram sizes = Histogram.builder()
            .name("apiserver_response_sizes")
            .help("Size of responses to gets and lists in bytes.")
            .labelNames("verb", "group", "version", "resource", "subresource", "scope", "component")
            .classicOnly()
            .classicUpperBounds(1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
            .withoutExemplars()
            .register(registry);
    private final Counter watchEvents = Counter.builder()
            .name("apiserver_watch_events_total")
            .help("Number of events that were sent to watches, those at their beginning left out.")
            .labelNames("group", "version", "kind")
            .withoutExemplars()
            .register(registry);
    /** Buckets are kube-apiserver's. */
    private final Histogram watchSizes = Histogram.builder()
            .name("apiserver_watch_events_sizes")
            .help("Size of these events in bytes.")
            .labelNames("group", "version", "kind")
            .classicOnly()
            .classicUpperBounds(1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
            .withoutExemplars()
            .register(registry);

    private final Counter initialEvents = Counter.builder()
            .name("apiserver_init_events_total")
            .help("Number of events that watches got at their beginning, by resource.")
            .labelNames("resource")
            .withoutExemplars()
            .register(registry);
    /** Buckets are kube-apiserver's. */
    private final Histogram storeDurations = Histogram.builder()
            .name("etcd_request_duration_seconds")
            .help("Duration of the store's writes, and of reads that are not from memory, by operation and resource.")
            .labelNames("operation", "type")
            .classicOnly()
            .classicUpperBounds(
                    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60)
            .withoutExemplars()
            .register(registry);

    private final Counter watchLines = Counter.builder()
            .name("nodekeeper_watch_lines_total")
            .help("Number of changes and bookmarks that were written to open watches.")
            .withoutExemplars()
            .register(registry);
    private final Counter watchBlocks = Counter.builder()
            .name("nodekeeper_watch_blocks_total")
            .help("Number of blocks in which they were written.")
            .withoutExemplars()
            .register(registry);
    private final Counter dropped = Counter.builder()
            .name("apiserver_dropped_requests_total")
            .help("Number of requests refused with status 429.")
            .labelNames("request_kind")
            .withoutExemplars()
            .register(registry);
    private final Counter handshakes = Counter.builder()
            .name("apiserver_tls_handshake_errors_total")
            .help("Number of connections that failed before their first request.")
            .withoutExemplars()
            .register(registry);
    /** Buckets are kube-apiserver's. */
    private final Histogram certificates = Histogram.builder()
            .name("apiserver_client_certificate_expiration_seconds")
            .help("Remaining lifetime of clients' certificates, counted once for each connection.")
            .classicOnly()
            .classicUpperBounds(
                    0,
                    1_800,
                    3_600,
                    7_200,
                    21_600,
                    43_200,
                    86_400,
                    172_800,
                    345_600,
                    604_800,
                    2_592_000,
                    7_776_000,
                    15_552_000,
                    31_104_000)
            .withoutExemplars()
            .register(registry);

    /** kube-apiserver tells its own requests from those of aggregated servers. */
    private static final String COMPONENT = "apiserver";

    private static final ResourceType NOTHING = new ResourceType("", "", "", "", false);

    private final GaugeDataPoint reading = inflight.labelValues("readOnly");
    private final GaugeDataPoint writing = inflight.labelValues("mutating");
    private final Map<Kind, Series> series = new ConcurrentHashMap<>();
    private final Map<Kind, DistributionDataPoint> sizeOf = new ConcurrentHashMap<>();

    private final LongAdder authenticated = new LongAdder();
    private final LongAdder unauthenticated = new LongAdder();

    public ServerMetrics(Store store, Optional<AuditLog> audit) {
        GaugeWithCallback.builder()
                .name("authentication_attempts")
                .help("Number of authentication attempts by result.")
                .labelNames("result")
                .callback(callback -> {
                    callback.call((double) authenticated.sum(), "success");
                    callback.call((double) unauthenticated.sum(), "failure");
                })
                .register(registry);
        GaugeWithCallback.builder()
                .name("apiserver_storage_size_bytes")
                .help("Size of all keys and values in the store in bytes; 0 if the store does not count them.")
                .callback(callback -> callback.call((double) store.usage().bytes()))
                .register(registry);
        GaugeWithCallback.builder()
                .name("apiserver_storage_quota_bytes")
                .help("Quota of the store in bytes; 0 if the store has no quota of its own.")
                .callback(callback -> callback.call((double) store.usage().quota()))
                .register(registry);
        GaugeWithCallback.builder()
                .name("apiserver_storage_quota_exceeded")
                .help("1 while the store is full and writes that need space are refused.")
                .callback(callback -> callback.call(store.usage().exceeded() ? 1 : 0))
                .register(registry);
        CounterWithCallback.builder()
                .name("nodekeeper_store_commits_total")
                .help("Number of groups of changes that the store committed.")
                .callback(callback -> callback.call((double) store.commits().groups()))
                .register(registry);
        CounterWithCallback.builder()
                .name("nodekeeper_store_committed_changes_total")
                .help("Number of changes in these groups.")
                .callback(callback -> callback.call((double) store.commits().changes()))
                .register(registry);
        GaugeWithCallback.builder()
                .name("nodekeeper_store_commit_window_seconds")
                .help(
                        "How long lease renewals wait to be committed together at the current load; 0 if they do not wait.")
                .callback(callback -> callback.call(store.commits().window().toNanos() / 1e9))
                .register(registry);
        audit.ifPresent(log -> {
            CounterWithCallback.builder()
                    .name("apiserver_audit_event_total")
                    .help("Number of events that the audit log accepted.")
                    .callback(callback -> callback.call((double) log.taken()))
                    .register(registry);
            CounterWithCallback.builder()
                    .name("apiserver_audit_error_total")
                    .help("Number of events that the audit log lost.")
                    .callback(callback -> callback.call((double) log.lost()))
                    .register(registry);
        });
        objects(store, "apiserver_storage_objects");
        // Its name before Kubernetes 1.21, which alerts still use.
        objects(store, "etcd_object_counts");
        ofEach(
                "watch_cache_capacity",
                "The most changes of a resource with which a watch can begin.",
                resource -> store.capacity());
        GaugeWithCallback.builder()
                .name("apiserver_storage_revision")
                .help("The revision of the latest change.")
                .callback(callback -> callback.call((double) store.revision()))
                .register(registry);
    }

    private void objects(Store store, String name) {
        ofEach(
                name,
                "Objects stored.",
                resource -> store.list(resource.prefix(""), "", 0, 0).entries().size());
    }

    /** A gauge of each resource that is stored. */
    private void ofEach(String name, String help, ToIntFunction<Resource> value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames("resource")
                .callback(callback -> Resources.ALL.stream()
                        .filter(Resource::isStored)
                        .forEach(resource -> callback.call(
                                value.applyAsInt(resource), resource.type().qualifiedName())))
                .register(registry);
    }

    /** {@code store}, whose operations are timed by {@code clock}. */
    public Store timed(Store store, Clock clock) {
        return new TimedStore(store, clock, storeDurations);
    }

    /** The registry of all metrics; the process registers its own metrics here, too. */
    public PrometheusRegistry registry() {
        return registry;
    }

    /** The labels of a request. */
    private record Kind(String verb, ResourceType type, String subresource, String scope, String dryRun) {}

    /**
     * The series of a kind of request. They are cached, because the library's look-up by labels takes longer than all
     * other counting.
     */
    private final class Series {
        private final Kind kind;
        private final DistributionDataPoint duration;
        private final Map<Integer, CounterDataPoint> counts = new ConcurrentHashMap<>();

        private Series(Kind kind) {
            this.kind = kind;
            duration = durations.labelValues(
                    kind.verb,
                    kind.dryRun,
                    kind.type.group(),
                    kind.type.version(),
                    kind.type.plural(),
                    kind.subresource,
                    kind.scope,
                    COMPONENT);
        }

        private CounterDataPoint count(int code) {
            return counts.computeIfAbsent(
                    code,
                    status -> requests.labelValues(
                            kind.verb,
                            kind.type.group(),
                            kind.type.version(),
                            kind.type.plural(),
                            kind.subresource,
                            kind.scope,
                            COMPONENT,
                            kind.dryRun,
                            Integer.toString(status)));
        }
    }

    public void started(RequestInfo info) {
        (isRead(info) ? reading : writing).inc();
    }

    public void finished(ApiRequest request, RequestInfo info, int code, double seconds) {
        (isRead(info) ? reading : writing).dec();
        Series found = series.computeIfAbsent(kind(request, info), Series::new);
        found.count(code).inc();
        if (!found.kind.verb.equals("WATCH")) {
            found.duration.observe(seconds);
        }
    }

    public void authenticated(boolean success) {
        (success ? authenticated : unauthenticated).increment();
    }

    private static Kind kind(ApiRequest request, RequestInfo info) {
        boolean apply = info.verb().equals("patch") && request.contentType().equals(Yaml.APPLY_MEDIA_TYPE);
        String verb = apply ? "APPLY" : VERBS.getOrDefault(info.verb().toUpperCase(Locale.ROOT), "other");
        // Only resources of the catalogue become labels, so that clients cannot create time series with invented paths.
        if (info.known().isEmpty()) {
            return new Kind(verb, NOTHING, "", "", "");
        }
        String dryRun = !isRead(info) && request.parameter("dryRun").equals("All") ? "All" : "";
        RequestTarget target = info.resource().orElseThrow();
        return kind(verb, info.known().get(), info.verb(), target, dryRun);
    }

    private static String scope(String verb, RequestTarget target) {
        return !target.name().isEmpty() || verb.equals("create")
                ? "resource"
                : target.namespace().isEmpty() ? "cluster" : "namespace";
    }

    private static String subresource(RequestTarget target) {
        return SUBRESOURCES.contains(target.subresource()) ? target.subresource() : "";
    }

    /** Counts a watch until {@code sink} is closed. Returns the sink that counts its events. */
    public StreamSink watchOpened(Resource resource, StreamSink sink) {
        ResourceType type = resource.type();
        GaugeDataPoint open = watchers.labelValues("WATCH", type.plural());
        GaugeDataPoint watches = registered.labelValues(type.group(), type.version(), type.kind());
        open.inc();
        watches.inc();
        sink.onClose(() -> {
            open.dec();
            watches.dec();
        });
        return new CountedSink(
                sink,
                initialEvents.labelValues(type.qualifiedName()),
                watchEvents.labelValues(type.group(), type.version(), type.kind()),
                watchSizes.labelValues(type.group(), type.version(), type.kind()));
    }

    /** The lines of {@code changes} were written to a watch together. */
    public void watchWritten(int changes) {
        watchLines.inc(changes);
        watchBlocks.inc();
    }

    /** Counts the size of {@code response}; of one that is produced while it is read, when it has been. */
    public ApiResponse answered(RequestInfo info, ApiResponse response) {
        if (!info.verb().equals("get") && !info.verb().equals("list")) {
            return response;
        }
        return switch (response) {
            case ApiResponse.Full full -> {
                size(info).observe(full.body().length);
                yield full;
            }
            case ApiResponse.Chunked large ->
                new ApiResponse.Chunked(
                        large.status(), large.headers(), new CountedChunks(large.chunks(), size(info)::observe));
            case ApiResponse.Streamed streamed -> streamed;
            case ApiResponse.Relayed relayed -> relayed;
        };
    }

    private DistributionDataPoint size(RequestInfo info) {
        String verb = info.verb().equals("get") ? "GET" : "LIST";
        Kind kind = info.known().isEmpty()
                ? new Kind(verb, NOTHING, "", "", "")
                : kind(verb, info.known().get(), info.verb(), info.resource().orElseThrow(), "");
        return sizeOf.computeIfAbsent(
                kind,
                first -> sizes.labelValues(
                        first.verb,
                        first.type.group(),
                        first.type.version(),
                        first.type.plural(),
                        first.subresource,
                        first.scope,
                        COMPONENT));
    }

    private static Kind kind(String label, Resource resource, String verb, RequestTarget target, String dryRun) {
        return new Kind(label, resource.type(), subresource(target), scope(verb, target), dryRun);
    }

    public void dropped(RequestInfo info) {
        dropped.labelValues(isRead(info) ? "readOnly" : "mutating").inc();
    }

    public void handshakeFailed() {
        handshakes.inc();
    }

    public void certificateShown(double secondsLeft) {
        certificates.observe(secondsLeft);
    }

    public byte[] expose() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(out, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException("writing metrics to memory", e);
        }
        return out.toByteArray();
    }

    /** Those of the catalogue's resources; clients may ask for any. */
    private static final Set<String> SUBRESOURCES = Set.of(
            "approval",
            "attach",
            "binding",
            "eviction",
            "exec",
            "finalize",
            "log",
            "portforward",
            "proxy",
            "scale",
            "status",
            "token");

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

    public static boolean isRead(RequestInfo info) {
        return switch (info.verb()) {
            case "get", "list", "watch", "head" -> true;
            default -> false;
        };
    }
}
